// Starts the labs: before the charts' library is read, so that they answer at once.

(() => {
  "use strict";

  const labs = { answers: kalibre.answersLab, temperature: kalibre.temperatureLab };

  kalibre.read = (element) =>
    JSON.parse(element.querySelector("script[type='application/json']").textContent);

  for (const lab of document.querySelectorAll("[data-lab]")) labs[lab.dataset.lab](lab, kalibre.read(lab));
  kalibre.interactive = performance.now();

  // In a frame that may only run scripts a link within the page leads nowhere by itself.
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    const target = link && document.getElementById(link.hash.slice(1));
    if (!target) return;
    event.preventDefault();
    target.setAttribute("tabindex", "-1");
    target.focus({ preventScroll: true });
    target.scrollIntoView();
  });

  // The page lies in a folder of results; shown by itself, it has no index beside it.
  if (!/^(file|https?):$/.test(location.protocol) || window !== window.parent) {
    for (const link of document.querySelectorAll("[data-beside]")) link.removeAttribute("href");
  }
})();
