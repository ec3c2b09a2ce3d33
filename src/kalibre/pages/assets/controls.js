// What both labs are built from: elements, number readings, a choice of bins.

window.kalibre.controls = (() => {
  "use strict";

  // make("button", { class: "chip", onclick: f }, "text", child ...)
  function make(name, attributes, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else if (value === true) element.setAttribute(key, "");
      else if (value !== false && value !== null) element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  }

  function drawing() {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("class", "diagram");
    svg.setAttribute("role", "img");
    return svg;
  }

  // A number with its name; `data-value` holds all its digits.
  function reading(key, label) {
    const now = make("output", { "data-reading": key });
    const note = make("span", { class: "note", "data-note": key });
    const item = make("div", { class: "reading" }, make("span", { class: "label" }, label), now, note);
    function show(value, digits, remark) {
      now.dataset.value = value === null ? "" : String(value);
      now.textContent = value === null ? "–" : value.toFixed(digits);
      note.textContent = remark || "";
    }
    return { item, show };
  }

  // One of several, as radio buttons: arrow keys move, one is always chosen.
  function choice(legend, name, options, onchange) {
    const inputs = options.map(({ value, label, hint }) => {
      const input = make("input", { type: "radio", name, value, onchange: () => onchange(value) });
      return { value, input, label: make("label", { title: hint || null }, input, make("span", {}, label)) };
    });
    const field = make(
      "fieldset",
      { class: "choice" },
      make("legend", {}, legend),
      make("div", {}, ...inputs.map((option) => option.label)),
    );
    function select(value) {
      for (const option of inputs) option.input.checked = option.value === value;
    }
    return { field, select };
  }

  function binChoice(rules, name, onchange) {
    const options = rules.map((rule, i) => ({ value: String(i), label: rule.name, hint: rule.words }));
    const bins = choice("Bins", name, options, (value) => onchange(rules[Number(value)]));
    bins.select("0");
    bins.field.hidden = rules.length < 2;
    return bins.field;
  }

  // Said aloud once a change has settled, not at every step of a slider.
  function announcer() {
    const live = make("p", { class: "spoken", "aria-live": "polite" });
    let waiting = 0;
    function say(text) {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        live.textContent = text;
      }, 400);
    }
    return { live, say };
  }

  return { announcer, binChoice, choice, drawing, make, reading };
})();
