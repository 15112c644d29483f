"use strict";
// Where two models, or two numerics of one, begin to differ: the SQNR of each result, in the order in which they are computed.

function drawDifferences(view, page) {
  const { comparison } = page.document;
  const panel = view.append("section").attr("class", "panel");
  panel.append("h2").text(`${comparison.first} against ${comparison.second}`);
  const list = comparison.differences;
  const equal = list.filter(({ db }) => db === null).length;
  const below = list.filter(({ db }) => db !== null && !(db >= comparison.limit_db));
  const first = list.find(({ db }) => db !== null);
  const nodes = page.sides[0].graphs[0].nodes;
  const words = [`${list.length} results compared: ${equal} equal, ${below.length} below ${comparison.limit_db} dB, ${comparison.unmatched} without a counterpart.`];
  const told = (known) => `node ${known.node} (${known.node >= 0 ? nodes[known.node].op : "input"}), ${dbText(known.db)}`;
  if (first) words.push(`They begin to differ at ${told(first)}.`);
  if (below.length) words.push(`First below the limit: ${told(below[0])}.`);
  panel.append("p").attr("class", "about").text(words.join(" "));
  sqnrChart(panel, page, comparison, below[0]);
  const worst = d3.sort(list.filter(({ db }) => db !== null), ({ db }) => (typeof db === "number" ? db : -Infinity)).slice(0, 25);
  if (!worst.length) return;
  panel.append("h3").text("Most different");
  const table = panel.append("table").attr("class", "worst");
  table.append("tr").selectAll("th").data(["node", "operator", "tensor", "SQNR", "largest difference", "largest value"]).join("th").text((text) => text);
  const rows = table.selectAll("tr.acts").data(worst).join("tr").attr("class", "acts").on("click", (_, known) => page.chooseNode(0, 0, known.node, true));
  rows.selectAll("td").data((known) => [known.node, known.node >= 0 ? nodes[known.node].op : "", middle(page.sides[0].graphs[0].tensors[known.tensor].name, 60), dbText(known.db), short(known.largest), short(known.of)]).join("td").text((cell) => cell);
}

function sqnrChart(panel, page, comparison, below) {
  const list = comparison.differences;
  const width = Math.max(700, page.width() - 84), height = 360, left = 60, top = 30;
  const finite = list.map(({ db }) => db).filter((db) => typeof db === "number" && Number.isFinite(db));
  const best = Math.max(60, d3.max(finite) || 0), worst = Math.min(0, d3.min(finite) || 0);
  const x = d3.scaleLinear([0, Math.max(1, list.length - 1)], [left + 10, width - 30]);
  const y = d3.scaleLinear([worst, best], [top + height, top + 26]);
  const at = (db) => (db === null ? top : typeof db === "number" ? y(db) : top + height);
  const svg = panel.append("svg").attr("class", "chart sqnr").attr("width", width).attr("height", height + 70);
  svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(8).tickFormat((db) => `${db} dB`).tickSize(-(width - left - 30)));
  svg.append("text").attr("class", "caption").attr("x", left - 8).attr("y", top + 4).attr("text-anchor", "end").text("equal");
  svg.append("line").attr("class", "limit").attr("x1", left).attr("x2", width - 30).attr("y1", y(comparison.limit_db)).attr("y2", y(comparison.limit_db));
  svg.append("path").attr("class", "thread").attr("d", d3.line().x((_, i) => x(i)).y(({ db }) => at(db))(list));
  const nodes = page.sides[0].graphs[0].nodes;
  const tensors = page.sides[0].graphs[0].tensors;
  svg.selectAll("circle").data(list).join("circle").attr("class", "acts").attr("r", list.length > 300 ? 2.5 : 4)
    .attr("cx", (_, i) => x(i)).attr("cy", ({ db }) => at(db)).attr("fill", ({ db }) => d3.color(differenceColor(db)).darker(0.8))
    .on("mousemove", (event, known) => page.tip(event, `node ${known.node} ${known.node >= 0 ? nodes[known.node].op : ""}\n${tensors[known.tensor].name}\n${dbText(known.db)}`))
    .on("mouseleave", () => page.tip(null))
    .on("click", (_, known) => page.chooseNode(0, 0, known.node, true));
  if (below) {
    const place = x(list.indexOf(below));
    svg.append("line").attr("class", "peak").attr("x1", place).attr("x2", place).attr("y1", top - 8).attr("y2", top + height);
    svg.append("text").attr("class", "peak").attr("x", place + 4).attr("y", top - 10).attr("text-anchor", place > width * 0.7 ? "end" : "start").text(`first below ${comparison.limit_db} dB: node ${below.node}`);
  }
  svg.append("text").attr("class", "caption").attr("x", left).attr("y", height + top + 24).text("results in the order in which they are computed");
}
