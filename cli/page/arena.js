"use strict";
// The arena: which bytes each tensor has (upwards), and between which steps (to the right).

function drawArenas(view, page) {
  page.sides.forEach((side, number) => {
    if (!side.measured || !side.measured.arena) return;
    const panel = view.append("section").attr("class", "panel");
    panel.append("h2").text(side.label);
    const { arena, summary } = side.measured;
    const peak = d3.maxIndex(arena.used);
    const bound = arena.bytes === arena.lower_bound ? "the least possible" : `lower bound ${bytesText(arena.lower_bound)}, ${d3.format(".1%")(arena.bytes / Math.max(1, arena.lower_bound) - 1)} above it`;
    panel.append("p").attr("class", "about").text(`Arena ${bytesText(arena.bytes)} (${bound}). The most at once, ${bytesText(arena.used[peak])}, at step ${peak}${stepName(side, peak)}. Each area is a tensor: its bytes upwards, the steps during which it is needed to the right.`);
    drawArena(panel, page, side, number, peak);
    const table = panel.append("table").attr("class", "summary").selectAll("tr").data(summary).join("tr");
    table.append("th").text(([name]) => name);
    table.append("td").text(([, value]) => value);
  });
}

function stepName(side, step) {
  const node = side.measured.arena.steps[step];
  const graph = side.graphs[side.measured.graph];
  return node >= 0 && graph.nodes[node] ? ` (${graph.nodes[node].op})` : "";
}

function drawArena(panel, page, side, number, peak) {
  const { arena } = side.measured;
  const graph = side.graphs[side.measured.graph];
  const width = Math.max(700, page.width() - 84), height = 430, left = 78, top = 24, strip = 70;
  const svg = panel.append("svg").attr("class", "chart arena").attr("width", width).attr("height", height + strip + 76);
  const x = d3.scaleLinear([0, arena.used.length], [left, width - 120]);
  const most = Math.max(arena.bytes, arena.lower_bound, 1);
  const y = d3.scaleLinear([0, most], [top + height, top]);
  svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).tickValues(byteTicks(most)).tickFormat(bytesText));
  svg.append("g").attr("class", "axis").attr("transform", `translate(0,${top + height})`).call(d3.axisBottom(x).ticks(10).tickFormat(d3.format("d")));
  const producers = new Map(graph.nodes.flatMap((node, n) => node.outputs.map((t) => [t, n])));
  const color = ({ tensor }) => {
    const op = producers.has(tensor) ? graph.nodes[producers.get(tensor)].op : tensor < graph.tensors.length ? "input" : "scratch";
    return op === "scratch" ? "#c8ccd2" : strong(kindOf(op).color);
  };
  const name = ({ tensor }) => (tensor < graph.tensors.length ? graph.tensors[tensor].name : "scratch memory of an operator");
  svg.append("g").selectAll("rect").data(arena.places).join("rect").attr("class", "place")
    .attr("x", (place) => x(place.first)).attr("width", (place) => Math.max(1, x(place.last + 1) - x(place.first) - 0.5))
    .attr("y", (place) => y(place.offset + place.bytes)).attr("height", (place) => Math.max(0.5, y(place.offset) - y(place.offset + place.bytes)))
    .attr("fill", color)
    .on("mousemove", (event, place) => page.tip(event, `${name(place)}\n${bytesText(place.bytes)} at ${number_(place.offset)}\nsteps ${place.first} to ${place.last}`))
    .on("mouseleave", () => page.tip(null))
    .on("click", (_, place) => producers.has(place.tensor) && page.chooseNode(number, side.measured.graph, producers.get(place.tensor), true));
  const level = (bytes, text, kind, dy) => {
    svg.append("line").attr("class", kind).attr("x1", left).attr("x2", width - 116).attr("y1", y(bytes)).attr("y2", y(bytes));
    svg.append("text").attr("class", kind).attr("x", width - 112).attr("y", y(bytes) + dy).text(text);
  };
  level(arena.bytes, `arena ${bytesText(arena.bytes)}`, "limit", -2);
  level(arena.lower_bound, `least ${bytesText(arena.lower_bound)}`, "bound", 11);
  const at = (x(peak) + x(peak + 1)) / 2;
  svg.append("line").attr("class", "peak").attr("x1", at).attr("x2", at).attr("y1", top - 6).attr("y2", top + height + strip + 24);
  svg.append("text").attr("class", "peak").attr("x", at).attr("y", top - 9).attr("text-anchor", at > width * 0.8 ? "end" : at < width * 0.2 ? "start" : "middle").text(`peak: step ${peak}${stepName(side, peak)}`);
  const used = d3.scaleLinear([0, most], [top + height + strip + 24, top + height + 30]);
  const area = d3.area().x((_, i) => x(i)).y0(used(0)).y1((bytes) => used(bytes)).curve(d3.curveStepAfter);
  svg.append("path").attr("class", "used").attr("d", area([...arena.used, arena.used[arena.used.length - 1]]));
  svg.append("text").attr("class", "caption").attr("x", left).attr("y", top + height + strip + 40).text("bytes in use at each step");
}

const number_ = d3.format(",");

// Round numbers of bytes up to the most.
function byteTicks(most) {
  const step = 2 ** Math.ceil(Math.log2(most / 6));
  return d3.range(0, most, Math.max(1, step));
}
