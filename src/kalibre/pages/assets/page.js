// Starts the labs at once, then puts each chart with hover in the place of its still picture.

(() => {
  "use strict";

  const read = (element) => JSON.parse(element.querySelector("script[type='application/json']").textContent);

  const labs = { answers: kalibre.answersLab, temperature: kalibre.temperatureLab };
  for (const lab of document.querySelectorAll("[data-lab]")) labs[lab.dataset.lab](lab, read(lab));

  // The page lies in a folder of results; shown by itself, it has no index beside it.
  if (!/^(file|https?):$/.test(location.protocol) || window !== window.parent) {
    for (const link of document.querySelectorAll("[data-beside]")) link.removeAttribute("href");
  }

  const options = { actions: false, renderer: "svg", tooltip: { theme: "kalibre" } };

  async function draw() {
    for (const view of document.querySelectorAll("[data-chart]")) {
      const spec = read(view);
      const place = document.createElement("div");
      place.className = "live";
      view.append(place);
      view.classList.add("drawing");
      await vegaEmbed(place, spec, options);
      view.classList.remove("drawing");
      view.classList.add("drawn");
      // A breath between two charts: a click on a lab is answered first.
      await new Promise((next) => setTimeout(next));
    }
    document.documentElement.dataset.ready = "true";
  }

  draw();
})();
