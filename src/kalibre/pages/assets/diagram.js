// The labs' reliability diagram, drawn anew at every change: circles, gaps to the diagonal, rows per bin.

window.kalibre.diagram = (() => {
  "use strict";

  const LEFT = 66;
  const TOP = 12;
  const SIDE = 340;
  const STRIP = 60;
  const WIDTH = LEFT + SIDE + 26;
  const FOOT = TOP + SIDE + 50 + STRIP;
  const HEIGHT = FOOT + 20;
  // Of more circles a line would show the noise.
  const JOINED = 6;
  const TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1];

  const x = (value) => LEFT + value * SIDE;
  const y = (value) => TOP + (1 - value) * SIDE;
  const at = (value) => value.toFixed(2);
  const percent = (value) => `${Math.round(100 * value)} %`;

  function axes(words) {
    const parts = [];
    for (const tick of TICKS) {
      parts.push(`<line class="grid" x1="${x(tick)}" x2="${x(tick)}" y1="${y(0)}" y2="${y(1)}"/>`);
      parts.push(`<line class="grid" x1="${x(0)}" x2="${x(1)}" y1="${y(tick)}" y2="${y(tick)}"/>`);
      parts.push(`<text x="${x(tick)}" y="${y(0) + 20}" text-anchor="middle">${tick.toFixed(1)}</text>`);
      parts.push(`<text x="${x(0) - 8}" y="${y(tick) + 4}" text-anchor="end">${percent(tick)}</text>`);
    }
    parts.push(`<line class="diagonal" x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}"/>`);
    parts.push(`<text class="title" x="${x(0.5)}" y="${y(0) + 39}" text-anchor="middle">${words.said}</text>`);
    const middle = y(0.5);
    parts.push(
      `<text class="title" transform="translate(12 ${middle}) rotate(-90)" text-anchor="middle">${words.happened}</text>`,
    );
    return parts;
  }

  function radius(bin, rows) {
    return 4.5 + 12 * Math.sqrt(bin.count / rows);
  }

  // Hollow circles: where the same rows stood before.
  function ghosts(bins, rows) {
    return bins.map(
      (bin) =>
        `<circle class="ghost" cx="${at(x(bin.meanPredicted))}" cy="${at(y(bin.observedRate))}" r="${at(radius(bin, rows))}"/>`,
    );
  }

  function circles(bins, rows, joined, words) {
    const parts = bins.map(
      (bin) =>
        `<line class="gap" x1="${at(x(bin.meanPredicted))}" x2="${at(x(bin.meanPredicted))}" y1="${at(y(bin.meanPredicted))}" y2="${at(y(bin.observedRate))}"/>`,
    );
    if (joined) {
      const line = bins.map((bin) => `${at(x(bin.meanPredicted))},${at(y(bin.observedRate))}`).join(" ");
      parts.push(`<polyline class="curve" points="${line}"/>`);
    }
    for (const bin of bins) {
      parts.push(
        `<circle class="point" cx="${at(x(bin.meanPredicted))}" cy="${at(y(bin.observedRate))}" r="${at(radius(bin, rows))}">` +
          `<title>${sentence(bin, words)}</title></circle>`,
      );
    }
    return parts;
  }

  function counts(bins) {
    const most = Math.max(...bins.map((bin) => bin.count));
    const parts = [`<line class="base" x1="${x(0)}" x2="${x(1)}" y1="${FOOT}" y2="${FOOT}"/>`];
    for (const bin of bins) {
      const height = (STRIP - 14) * (bin.count / most);
      const wide = bin.upper > bin.lower ? (bin.upper - bin.lower) * SIDE - 2 : 10;
      const from = x(bin.lower) + 1;
      parts.push(
        `<rect class="count" x="${at(from)}" width="${at(Math.max(wide, 1))}" y="${at(FOOT - height)}" height="${at(height)}"/>`,
      );
      if (bins.length <= 12) {
        parts.push(
          `<text class="small" x="${at(from + wide / 2)}" y="${at(FOOT - height - 3)}" text-anchor="middle">${bin.count}</text>`,
        );
      }
    }
    parts.push(`<text class="small" x="${x(0.5)}" y="${FOOT + 15}" text-anchor="middle">rows per bin</text>`);
    return parts;
  }

  function interval(bin, last) {
    const edge = (value) => String(Number(value.toPrecision(4)));
    if (bin.lower === bin.upper) return `[${edge(bin.lower)}]`;
    return `[${edge(bin.lower)}, ${edge(bin.upper)}${last ? "]" : ")"}`;
  }

  function sentence(bin, words) {
    return (
      `${bin.name}: says ${bin.meanPredicted.toFixed(3)}, ${percent(bin.observedRate)} ${words.happens} ` +
      `(${bin.count} ${bin.count === 1 ? "row" : "rows"})`
    );
  }

  // Draws `table` into `svg`; `before`, if any, is the table drawn hollow behind it.
  function draw(svg, table, before, words) {
    table.bins.forEach((bin, i) => {
      bin.name = interval(bin, i === table.bins.length - 1);
    });
    const filled = table.bins.filter((bin) => bin.count > 0);
    const rows = filled.reduce((count, bin) => count + bin.count, 0);
    const earlier = before ? before.bins.filter((bin) => bin.count > 0) : [];
    const parts = axes(words);
    if (filled.length) {
      parts.push(...ghosts(earlier, rows), ...circles(filled, rows, table.bins.length <= JOINED, words), ...counts(filled));
    }
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    svg.setAttribute("aria-label", described(filled, words));
    svg.innerHTML = parts.join("");
  }

  function described(filled, words) {
    if (!filled.length) return "Reliability diagram without a circle: no row lies in the bins.";
    const bins = filled.map((bin) => sentence(bin, words)).join("; ");
    return `Reliability diagram, one circle a bin. ${bins}.`;
  }

  return { draw, interval };
})();
