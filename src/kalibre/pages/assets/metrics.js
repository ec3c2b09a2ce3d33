// The engine's definitions, for numbers that follow a click or a slider. A test holds them against Python's.
//
// Bins are closed on the left, the last one on both sides; equal-width edges are the doubles j / k, and a
// probability is compared with them; own edges may end in a single point; ties are never parted. The
// arguments stand in the engine's order: outcomes, probabilities, then weights, which may be left out.

window.kalibre = (() => {
  "use strict";

  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const weightOf = (weights, i) => (weights ? weights[i] : 1);
  const total = (values, weights) => (weights ? sum(weights) : values.length);

  function weightedMean(values, weights) {
    let above = 0;
    for (let i = 0; i < values.length; i += 1) above += values[i] * weightOf(weights, i);
    return above / total(values, weights);
  }

  function expit(z) {
    const tail = Math.exp(-Math.abs(z));
    return (z >= 0 ? 1 : tail) / (1 + tail);
  }

  // Edges ------------------------------------------------------------------------------------------

  function unitEdges(count) {
    return Array.from({ length: count + 1 }, (_, j) => j / count);
  }

  // Where a share of the rows, or of their weight, is reached, the next distinct value opens a bin.
  function equalMassEdges(count, probabilities, weights) {
    const present = [...probabilities.keys()].filter((i) => weightOf(weights, i) > 0);
    present.sort((a, b) => probabilities[a] - probabilities[b]);
    const ordered = present.map((i) => probabilities[i]);
    const starts = weights
      ? startsByWeight(present.map((i) => weights[i]), count)
      : startsByRows(ordered.length, count);
    const inner = new Set();
    for (let start of starts) {
      while (start < ordered.length && ordered[start] === ordered[start - 1]) start += 1;
      if (start < ordered.length) inner.add(ordered[start]);
    }
    return [0, ...inner, 1];
  }

  function startsByRows(rows, count) {
    return Array.from({ length: count - 1 }, (_, j) => Math.ceil(((j + 1) * rows) / count));
  }

  function startsByWeight(weights, count) {
    let reached = 0;
    const cumulative = weights.map((weight) => (reached += weight));
    const starts = [];
    for (let j = 1; j < count; j += 1) {
      const share = (j / count) * reached - 1e-12 * reached;
      starts.push(cumulative.findIndex((value) => value >= share) + 1);
    }
    return starts;
  }

  function edgesOf(rule, probabilities, weights) {
    if (rule.edges) return rule.edges;
    if (rule.rule === "equal_mass") return equalMassEdges(rule.count, probabilities, weights);
    return unitEdges(rule.count);
  }

  // The bin of a probability, counted from 0; -1 outside the edges.
  function assign(probability, edges) {
    const last = edges.length - 1;
    if (probability === edges[last]) return last - 1;
    if (probability < edges[0] || probability > edges[last]) return -1;
    let low = 0;
    let high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (probability >= edges[middle]) low = middle;
      else high = middle;
    }
    return low;
  }

  // Metrics ----------------------------------------------------------------------------------------

  // One entry a bin, empty ones included; the ECE is null where rows lie outside the edges.
  function reliability(outcomes, probabilities, edges, weights) {
    const bins = [];
    for (let i = 0; i + 1 < edges.length; i += 1) {
      bins.push({ lower: edges[i], upper: edges[i + 1], count: 0, said: 0, positives: 0 });
    }
    let outside = 0;
    probabilities.forEach((probability, i) => {
      const weight = weightOf(weights, i);
      const bin = bins[assign(probability, edges)];
      if (!bin) {
        outside += weight;
        return;
      }
      bin.count += weight;
      bin.said += weight * probability;
      bin.positives += weight * outcomes[i];
    });
    for (const bin of bins) {
      const filled = bin.count > 0;
      bin.meanPredicted = filled ? bin.said / bin.count : null;
      bin.observedRate = filled ? bin.positives / bin.count : null;
      bin.gap = filled ? (bin.said - bin.positives) / bin.count : null;
    }
    const gaps = sum(bins.map((bin) => Math.abs(bin.said - bin.positives)));
    const ece = outside ? null : gaps / sum(bins.map((bin) => bin.count));
    return { bins, ece, outside };
  }

  function brier(outcomes, probabilities, weights) {
    return weightedMean(probabilities.map((p, i) => (p - outcomes[i]) ** 2), weights);
  }

  function accuracy(outcomes, probabilities, weights) {
    const right = probabilities.map((p, i) => Number(p >= 0.5 === (outcomes[i] === 1)));
    return weightedMean(right, weights);
  }

  function meanConfidence(probabilities, weights) {
    return weightedMean(probabilities.map((p) => Math.max(p, 1 - p)), weights);
  }

  // Rows whose confidence max(p, 1 - p) lies above a level, and how many of their decisions are wrong.
  function above(outcomes, probabilities, level, weights) {
    let count = 0;
    let errors = 0;
    let expected = 0;
    probabilities.forEach((p, i) => {
      const confidence = Math.max(p, 1 - p);
      if (!(confidence > level)) return;
      const weight = weightOf(weights, i);
      count += weight;
      expected += weight * (1 - confidence);
      if (p >= 0.5 !== (outcomes[i] === 1)) errors += weight;
    });
    return { count, errors, expected };
  }

  // The chance that a positive scores above a negative, ties counting half; null with one class.
  function rocAuc(outcomes, scores, weights) {
    const order = [...scores.keys()].sort((a, b) => scores[a] - scores[b]);
    let below = 0;
    let wins = 0;
    let positives = 0;
    for (let i = 0; i < order.length; ) {
      let tiedNegatives = 0;
      let tiedPositives = 0;
      const score = scores[order[i]];
      for (; i < order.length && scores[order[i]] === score; i += 1) {
        const weight = weightOf(weights, order[i]);
        if (outcomes[order[i]] === 1) tiedPositives += weight;
        else tiedNegatives += weight;
      }
      wins += tiedPositives * (below + tiedNegatives / 2);
      below += tiedNegatives;
      positives += tiedPositives;
    }
    return positives && below ? wins / (positives * below) : null;
  }

  // Rows that one of two scores calls positive at 0.5 (a logit of 0) and the other does not.
  function decisionsChanged(before, after, weights) {
    const changed = before.map((z, i) => Number(z >= 0 !== after[i] >= 0));
    return weightedMean(changed, weights) * total(before, weights);
  }

  return {
    above,
    accuracy,
    assign,
    brier,
    decisionsChanged,
    edgesOf,
    expit,
    meanConfidence,
    reliability,
    rocAuc,
    unitEdges,
    weightedMean,
  };
})();
