// The lab of single predictions: each one flips between what happened and what did not, by a click.

window.kalibre.answersLab = (root, data) => {
  "use strict";

  const { announcer, binChoice, choice, drawing, make, reading } = kalibre.controls;
  const { words } = data;
  const state = { preset: data.presets[0], outcomes: [], rule: data.bins[0] };

  const chips = make("div", { class: "chips", role: "group", "aria-label": words.group });
  const svg = drawing();
  const note = make("p", { class: "aside" });
  const spoken = announcer();
  const readings = {
    ece: reading("ece", "ECE"),
    brier: reading("brier", "Brier score"),
    said: reading("mean_probability", "stated on average"),
    happened: reading("observed_rate", words.rate),
  };

  function choose(name) {
    state.preset = data.presets.find((preset) => preset.name === name);
    state.outcomes = [...state.preset.outcomes].map(Number);
    presets.select(name);
    buildChips();
    update();
  }

  function buildChips() {
    const buttons = state.preset.probabilities.map((probability, i) =>
      make(
        "button",
        { type: "button", class: "chip", onclick: () => flip(i) },
        make("span", { class: "stated" }, shown(probability)),
        make("span", { class: "mark" }),
      ),
    );
    chips.replaceChildren(...buttons);
    note.textContent = state.preset.sampled
      ? `These are ${state.outcomes.length} of ${state.preset.rows} rows, evenly along what is stated; ` +
        "the numbers here are theirs alone."
      : "";
  }

  function shown(probability) {
    if (probability > 0 && probability < 0.0005) return "<0.001";
    if (probability < 1 && probability > 0.9995) return ">0.999";
    return String(Number(probability.toPrecision(3)));
  }

  function flip(i) {
    state.outcomes[i] = 1 - state.outcomes[i];
    presets.select(isPreset() ? state.preset.name : null);
    update();
  }

  function isPreset() {
    return state.outcomes.join("") === state.preset.outcomes;
  }

  function measured(outcomes) {
    const { probabilities, weights } = state.preset;
    const edges = kalibre.edgesOf(state.rule, probabilities, weights);
    return kalibre.reliability(outcomes, probabilities, edges, weights);
  }

  function update() {
    const { probabilities, weights } = state.preset;
    const { outcomes } = state;
    const table = measured(outcomes);
    const start = isPreset() ? null : measured([...state.preset.outcomes].map(Number));
    kalibre.diagram.draw(svg, table, start, words);
    const outside = `${table.outside} of ${outcomes.length} lie outside these bins`;
    readings.ece.show(table.ece, 3, table.outside ? outside : "distance from the diagonal");
    readings.brier.show(kalibre.brier(outcomes, probabilities, weights), 3, "always 0.5 gives 0.250");
    readings.said.show(kalibre.weightedMean(probabilities, weights), 3);
    readings.happened.show(kalibre.weightedMean(outcomes, weights), 3);
    [...chips.children].forEach((button, i) => mark(button, i));
    const ece = table.ece === null ? "not defined" : table.ece.toFixed(3);
    spoken.say(`ECE ${ece}, Brier score ${kalibre.brier(outcomes, probabilities, weights).toFixed(3)}`);
  }

  function mark(button, i) {
    const happened = state.outcomes[i] === 1;
    const word = happened ? words.yes : words.no;
    button.classList.toggle("yes", happened);
    button.setAttribute("aria-pressed", String(happened));
    button.setAttribute("aria-label", `${shown(state.preset.probabilities[i])} stated: ${word}`);
    button.lastChild.textContent = `${happened ? "✓" : "✗"} ${word}`;
  }

  const options = data.presets.map((preset) => ({ value: preset.name, label: preset.label }));
  const presets = choice("Start from", `${root.id}-preset`, options, choose);
  const again = make(
    "button",
    { type: "button", class: "plain", onclick: () => choose(state.preset.name) },
    "Start again",
  );
  const bins = binChoice(data.bins, `${root.id}-bins`, (rule) => {
    state.rule = rule;
    update();
  });
  root.append(
    make("div", { class: "toolbar" }, presets.field, bins, again),
    make(
      "div",
      { class: "bench" },
      make("div", {}, make("p", { class: "hint" }, words.hint), chips, note, tiles(readings)),
      make("div", {}, svg),
    ),
    spoken.live,
  );
  choose(data.presets[0].name);
  root.append(neverSure(root, state.outcomes.length));

  function tiles(shownReadings) {
    return make("div", { class: "readings" }, ...Object.values(shownReadings).map(({ item }) => item));
  }

  // The second panel: right every time, and never sure. Accuracy cannot see what the ECE sees.
  function neverSure(parent, rows) {
    const accuracy = reading("sure/accuracy", "accuracy");
    const ece = reading("sure/ece", "ECE");
    const brier = reading("sure/brier", "Brier score");
    const bars = ["stated", "right"].map((name) => make("div", { class: `bar ${name}` }, make("span", {})));
    const slider = make("input", {
      type: "range",
      id: `${parent.id}-stated`,
      min: 0.5,
      max: 1,
      step: 0.01,
      value: 0.6,
      oninput: show,
    });
    const panel = make(
      "div",
      { class: "second" },
      make("h3", {}, "Always right, never sure"),
      make(
        "p",
        {},
        "Every one of these predictions comes true, so the accuracy is 1 whatever is stated. ",
        "The less it dares to say, the further its promise lies from what happens.",
      ),
      make("label", { for: slider.id }, "stated each time"),
      slider,
      make("div", { class: "bars", "aria-hidden": "true" }, ...bars),
      tiles({ accuracy, ece, brier }),
    );

    function show() {
      const stated = Number(slider.value);
      const outcomes = Array(rows).fill(1);
      const probabilities = Array(rows).fill(stated);
      const table = kalibre.reliability(outcomes, probabilities, kalibre.unitEdges(10));
      slider.setAttribute("aria-valuetext", `${stated.toFixed(2)} stated`);
      bars[0].style.width = `${100 * stated}%`;
      bars[0].firstChild.textContent = `says ${stated.toFixed(2)}`;
      bars[1].firstChild.textContent = "comes true 100 %";
      accuracy.show(kalibre.accuracy(outcomes, probabilities), 3);
      ece.show(table.ece, 3);
      brier.show(kalibre.brier(outcomes, probabilities), 3);
    }
    show();
    return panel;
  }
};
