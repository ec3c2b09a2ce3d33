// Starts the labs: before the charts' library is read, so that they answer at once.

(() => {
  "use strict";

  const labs = { answers: kalibre.answersLab, temperature: kalibre.temperatureLab };

  kalibre.read = (element) =>
    JSON.parse(element.querySelector("script[type='application/json']").textContent);

  for (const lab of document.querySelectorAll("[data-lab]")) labs[lab.dataset.lab](lab, kalibre.read(lab));
  kalibre.interactive = performance.now();

  // The page lies in a folder of results; shown by itself, it has no index beside it.
  if (!/^(file|https?):$/.test(location.protocol) || window !== window.parent) {
    for (const link of document.querySelectorAll("[data-beside]")) link.removeAttribute("href");
  }
})();
