// Puts each chart with hover in the place of its still picture.

(() => {
  "use strict";

  const options = { actions: false, renderer: "svg", tooltip: { theme: "kalibre" } };

  async function draw() {
    for (const view of document.querySelectorAll("[data-chart]")) {
      const place = document.createElement("div");
      place.className = "live";
      view.append(place);
      view.classList.add("drawing");
      await vegaEmbed(place, kalibre.read(view), options);
      view.classList.remove("drawing");
      view.classList.add("drawn");
      // A breath between two charts: a click on a lab is answered first.
      await new Promise((next) => setTimeout(next));
    }
    document.documentElement.dataset.ready = "true";
  }

  draw();
})();
