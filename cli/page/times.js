"use strict";
// How long each operator takes, and each kind of them.

const ROW = 19;

function drawTimes(view, page) {
  for (const side of page.sides.filter((each) => each.measured)) {
    const { measured } = side;
    const panel = view.append("section").attr("class", "panel");
    const total = d3.sum(measured.times, (time) => time.median_ns);
    panel.append("h2").text(side.label);
    panel.append("p").attr("class", "about").text(`One run: ${timeText(measured.latency_ns)}. Operators, timed one by one: ${timeText(total)} in sum; medians. Click a bar to see it in the graph.`);
    const columns = panel.append("div").attr("class", "columns");
    kinds(columns.append("div"), measured, total);
    operators(columns.append("div").attr("class", "grows"), page, side, total);
  }
}

function kinds(parent, measured, total) {
  parent.append("h3").text("By kind");
  const rows = d3.sort(d3.rollups(measured.times, (list) => ({ ns: d3.sum(list, (time) => time.median_ns), count: list.length }), (time) => time.op), ([, { ns }]) => -ns);
  const bars = rows.map(([op, { ns, count }]) => ({ op, ns, name: `${count} × ${op}`, note: `${timeText(ns)} · ${d3.format(".1%")(ns / total)}` }));
  drawBars(parent, bars, 620, 190);
}

function operators(parent, page, side, total) {
  const { measured } = side;
  const number = page.sides.indexOf(side);
  const head = parent.append("h3").text("By operator, ");
  const order = head.append("select").attr("class", "order");
  order.selectAll("option").data(["slowest first", "as they run"]).join("option").text((text) => text);
  const place = parent.append("div");
  const graph = side.graphs[measured.graph];
  const fill = () => {
    place.selectAll("*").remove();
    const sorted = order.property("value") === "as they run" ? measured.times : d3.sort(measured.times, (time) => -time.median_ns);
    drawBars(place, sorted.map((time) => {
      const node = graph.nodes[time.node];
      const rate = time.gflops ? ` · ${short(time.gflops)} GFLOP/s` : "";
      return {
        op: time.op, ns: time.median_ns, node: time.node,
        name: `${time.node} ${time.op}`,
        note: `${timeText(time.median_ns)} · ${d3.format(".1%")(time.median_ns / total)}${rate}`,
        tip: node ? node.name : time.op,
      };
    }), 760, 230, (bar) => page.chooseNode(number, measured.graph, bar.node, true));
  };
  order.on("change", fill);
  fill();
}

// Horizontal bars: name at the left, words behind the bar.
function drawBars(parent, bars, width, left, act) {
  const svg = parent.append("svg").attr("class", "chart bars-chart").attr("width", width).attr("height", bars.length * ROW + 6);
  const x = d3.scaleLinear([0, d3.max(bars, (bar) => bar.ns) || 1], [0, width - left - 190]);
  const rows = svg.selectAll("g").data(bars).join("g").attr("class", act ? "row acts" : "row").attr("transform", (_, i) => `translate(0,${i * ROW})`);
  rows.append("rect").attr("class", "hover").attr("width", width).attr("height", ROW);
  rows.append("text").attr("x", left - 8).attr("y", 13).attr("text-anchor", "end").text((bar) => middle(bar.name, 34));
  rows.append("rect").attr("x", left).attr("y", 3).attr("height", ROW - 6).attr("rx", 2).attr("width", (bar) => Math.max(1, x(bar.ns)))
    .attr("fill", (bar) => strong(kindOf(bar.op).color));
  rows.append("text").attr("class", "note").attr("x", (bar) => left + x(bar.ns) + 6).attr("y", 13).text((bar) => bar.note);
  rows.append("title").text((bar) => bar.tip || bar.name);
  if (act) rows.on("click", (_, bar) => act(bar));
}
