"use strict";
// Ranges of results, as they are quantized and as a run has seen them, and histograms of weights.

function drawRanges(view, page) {
  page.sides.forEach((side, number) => {
    const rows = rangeRows(side);
    if (!rows.length) return;
    const panel = view.append("section").attr("class", "panel");
    panel.append("h2").text(side.label);
    const quantized = rows.some((row) => row.range);
    panel.append("p").attr("class", "about").text(
      !quantized ? "No result is quantized: the bars are what a run has seen." : "Light: the reals that the quantized type can stand for." +
      (rows.some((row) => row.seen) ? " Dark: what a run has seen; where that is a small part, precision is wasted, where it fills all, values may be clipped." : ""));
    ranges(panel, page, number, side, rows);
  });
}

function rangeRows(side) {
  const found = [];
  side.graphs.forEach((graph, g) => {
    const seen = new Map(side.measured && side.measured.graph === g ? side.measured.seen.map(([t, low, high]) => [t, [low, high]]) : []);
    graph.nodes.forEach((node, n) => node.outputs.forEach((t) => {
      if (t < 0) return;
      const tensor = graph.tensors[t];
      const range = tensor.scales ? tensor.scales.range : null;
      if (range || seen.has(t)) found.push({ g, n, t, op: node.op, tensor, range, seen: seen.get(t) });
    }));
  });
  return found;
}

function ranges(panel, page, number, side, rows) {
  const width = Math.max(760, Math.min(1500, page.width() - 84)), right = 190, letter = 6.4;
  const label = ({ op, tensor }) => `${op} · ${tensor.name}`;
  // Names get what they need, up to nearly half of the picture.
  const left = Math.min(Math.max(200, 26 + letter * d3.max(rows, (row) => label(row).length)), 0.45 * width);
  const most = d3.max(rows, ({ range, seen }) => d3.max([...(range || []), ...(seen || [])].filter(Number.isFinite), Math.abs)) || 1;
  const x = d3.scaleSymlog([-most, most], [left, width - right]).constant(Math.max(most / 500, 1e-9));
  const svg = panel.append("svg").attr("class", "chart ranges").attr("width", width).attr("height", rows.length * ROW + 40);
  const ticks = [1, 0.1, 0.01].flatMap((part) => [-most * part, most * part]).concat(0);
  svg.append("g").attr("class", "axis").attr("transform", "translate(0,22)").call(d3.axisTop(x).tickValues(ticks).tickFormat(d3.format(".2~g")).tickSize(-rows.length * ROW));
  const lines = svg.selectAll("g.row").data(rows).join("g").attr("class", "row acts").attr("transform", (_, i) => `translate(0,${26 + i * ROW})`)
    .on("click", (_, row) => page.chooseNode(number, row.g, row.n, true));
  lines.append("rect").attr("class", "hover").attr("width", width).attr("height", ROW);
  lines.append("text").attr("x", left - 10).attr("y", 13).attr("text-anchor", "end").text((row) => middle(label(row), Math.floor((left - 16) / letter)));
  const bar = (kind, of, inset) => lines.filter(of).append("rect").attr("class", kind).attr("y", inset).attr("height", ROW - 2 * inset).attr("rx", 2)
    .attr("x", (row) => x(Math.max(-most, of(row)[0]))).attr("width", (row) => Math.max(1.5, x(of(row)[1]) - x(of(row)[0])));
  bar("range", (row) => row.range, 2);
  bar("seen", (row) => row.seen, 6);
  lines.append("text").attr("class", "note").attr("x", width - right + 8).attr("y", 13).text(rangeWords);
  lines.append("title").text((row) => `${row.tensor.name}\n${row.tensor.type} ${row.tensor.shape}`);
}

function rangeWords({ range, seen }) {
  const span = ([low, high]) => high - low;
  if (range && seen) return `${d3.format(".0%")(span(seen) / Math.max(span(range), 1e-30))} of ${range.map((v) => d3.format(".3~g")(v)).join(" … ")}`;
  return (seen || range).map((v) => d3.format(".3~g")(v)).join(" … ");
}

const MOST_CARDS = 120;

function drawWeights(view, page) {
  page.sides.forEach((side, number) => {
    const rows = side.graphs.flatMap((graph, g) => graph.tensors.map((tensor, t) => ({ g, t, tensor })).filter(({ tensor }) => tensor.constant && tensor.histogram));
    if (!rows.length) return;
    const panel = view.append("section").attr("class", "panel");
    panel.append("h2").text(side.label);
    const sorted = d3.sort(rows, ({ tensor }) => -(tensor.bytes || 0));
    panel.append("p").attr("class", "about").text(`${number_(rows.length)} constants with values to count, the largest first; heights are square roots, quantized ones count as the reals that they stand for.`);
    const cards = panel.append("div").attr("class", "cards");
    const more = (from) => {
      for (const row of sorted.slice(from, from + MOST_CARDS)) card(cards, page, number, side, row);
      if (sorted.length > from + MOST_CARDS) {
        const button = panel.append("button").text(`${sorted.length - from - MOST_CARDS} more`).on("click", () => { button.remove(); more(from + MOST_CARDS); });
      }
    };
    more(0);
  });
}

function card(cards, page, number, side, { g, t, tensor }) {
  const graph = side.graphs[g];
  const user = graph.nodes.findIndex((node) => node.inputs.includes(t));
  const root = cards.append("button").attr("class", "card").attr("title", tensor.name).on("click", () => user >= 0 && page.chooseNode(number, g, user, true));
  root.append("b").text(user >= 0 ? graph.nodes[user].op : "constant");
  root.append("span").text(`${tensor.type} ${tensor.shape} · ${bytesText(tensor.bytes || 0)}`);
  root.append("span").attr("class", "name").text(middle(tensor.name, 46));
  drawHistogram(root, tensor.histogram, 220, 64);
}
