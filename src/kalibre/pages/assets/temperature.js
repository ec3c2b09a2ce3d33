// The lab of one number: every logit is divided by T. Probabilities move; order and decisions do not.

window.kalibre.temperatureLab = (root, data) => {
  "use strict";

  const { announcer, binChoice, choice, drawing, make, reading } = kalibre.controls;
  const models = data.models.map((model) => ({
    ...model,
    logits: model.logits.map((z) => (typeof z === "string" ? Number(z) : z)),
    outcomes: [...model.outcomes].map(Number),
  }));
  const state = { model: models[0], temperature: 1, rule: data.bins[0] };
  const level = data.level;
  const percent = `${Number((100 * level).toPrecision(6))} %`;

  const svg = drawing();
  const note = make("p", { class: "aside" });
  const stays = make("p", { class: "stays" });
  const spoken = announcer();
  const readings = {
    ece: reading("ece", "ECE"),
    brier: reading("brier", "Brier score"),
    confidence: reading("mean_confidence", "mean confidence"),
    accuracy: reading("accuracy", "accuracy"),
    above: reading("above/count", `surer than ${percent}`),
    errors: reading("above/errors", "of these wrong"),
    auc: reading("roc_auc", "ROC AUC"),
    changed: reading("decisions_changed", "decisions changed"),
  };

  const calibrated = (model, temperature) => model.logits.map((z) => kalibre.expit(z / temperature));

  function measured(model, temperature) {
    const { outcomes, weights } = model;
    const probabilities = calibrated(model, temperature);
    const edges = kalibre.edgesOf(state.rule, probabilities, weights);
    const scores = model.logits.map((z) => z / temperature);
    return {
      table: kalibre.reliability(outcomes, probabilities, edges, weights),
      brier: kalibre.brier(outcomes, probabilities, weights),
      confidence: kalibre.meanConfidence(probabilities, weights),
      accuracy: kalibre.accuracy(outcomes, probabilities, weights),
      above: kalibre.above(outcomes, probabilities, level, weights),
      auc: model.grouped ? model.auc : kalibre.rocAuc(outcomes, scores, weights),
      changed: kalibre.decisionsChanged(model.logits, scores, weights),
    };
  }

  function update() {
    const { model, temperature } = state;
    const now = measured(model, temperature);
    const before = temperature === 1 ? null : measured(model, 1);
    kalibre.diagram.draw(svg, now.table, before && before.table, data.words);
    const was = (value, digits) => (before && value !== null ? `${value.toFixed(digits)} before` : "");
    const whole = Number.isInteger(now.above.count) ? 0 : 1;
    const outside = `${now.table.outside} rows lie outside these bins`;
    readings.ece.show(
      now.table.ece,
      3,
      now.table.outside ? outside : was(before && before.table.ece, 3),
    );
    readings.brier.show(now.brier, 3, was(before && before.brier, 3));
    readings.confidence.show(now.confidence, 3, was(before && before.confidence, 3));
    readings.accuracy.show(now.accuracy, 3, "right decisions at 0.5");
    readings.above.show(now.above.count, whole, was(before && before.above.count, whole));
    const expected = `${now.above.expected.toFixed(1)} if the numbers were true`;
    readings.errors.show(now.above.errors, whole, expected);
    readings.auc.show(now.auc, 4, "stays");
    readings.changed.show(now.changed, 0, `of ${model.rows}`);
    stays.textContent =
      "Dividing by a positive number changes neither a sign nor the order: " +
      `${now.changed.toFixed(0)} of ${model.rows} decisions changed, ROC AUC stays ` +
      `${now.auc === null ? "undefined" : now.auc.toFixed(4)}.`;
    const ece = now.table.ece === null ? "not defined" : now.table.ece.toFixed(3);
    spoken.say(`T ${temperature.toFixed(2)}: ECE ${ece}, Brier score ${now.brier.toFixed(3)}`);
    showControls();
  }

  // Controls ---------------------------------------------------------------------------------------

  const slider = make("input", {
    type: "range",
    id: `${root.id}-temperature`,
    min: Math.log(0.05),
    max: Math.log(20),
    step: 0.001,
    oninput: () => setTemperature(Math.exp(Number(slider.value))),
  });
  const shownTemperature = make("output", { for: slider.id, "data-reading": "temperature" });

  function showControls() {
    const { model, temperature } = state;
    slider.value = Math.log(temperature);
    slider.setAttribute("aria-valuetext", `T = ${temperature.toFixed(2)}`);
    shownTemperature.textContent = `T = ${temperature.toFixed(2)}`;
    shownTemperature.dataset.value = String(temperature);
    const on = temperature === model.temperature;
    calibration.select(on ? "on" : temperature === 1 ? "off" : null);
    learned.textContent = `on (T = ${model.temperature.toFixed(2)})`;
    note.textContent = model.grouped
      ? `${model.rows} rows in ${model.logits.length} groups of neighbouring scores: the numbers are exact ` +
        "to about three decimals."
      : `${model.rows} rows of part “${data.part}”, T learned on part “${model.learned_on}”.`;
  }

  function setTemperature(temperature) {
    state.temperature = temperature;
    update();
  }

  function setModel(name) {
    const learnedBefore = state.temperature === state.model.temperature;
    state.model = models.find((model) => model.name === name);
    if (learnedBefore && state.temperature !== 1) state.temperature = state.model.temperature;
    choices.select(name);
    update();
  }

  const options = models.map((model) => ({ value: model.name, label: model.label }));
  const choices = choice("Model", `${root.id}-model`, options, setModel);
  const calibration = choice(
    "Calibration",
    `${root.id}-calibration`,
    [
      { value: "off", label: "off (T = 1)" },
      { value: "on", label: "on" },
    ],
    (value) => setTemperature(value === "on" ? state.model.temperature : 1),
  );
  const learned = calibration.field.querySelector("label:last-child span");
  const bins = binChoice(data.bins, `${root.id}-bins`, (rule) => {
    state.rule = rule;
    update();
  });
  root.append(
    make("div", { class: "toolbar" }, choices.field, calibration.field, bins),
    make(
      "div",
      { class: "slide" },
      make("label", { for: slider.id }, "your own T"),
      slider,
      shownTemperature,
    ),
    make(
      "div",
      { class: "bench" },
      make("div", {}, svg),
      make(
        "div",
        {},
        make("div", { class: "readings" }, ...Object.values(readings).map(({ item }) => item)),
        stays,
        note,
      ),
    ),
    spoken.live,
  );
  setModel(models[0].name);
};
