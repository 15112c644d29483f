"use strict";
// The page: its tabs, the search, and what is chosen.

class Page {
  constructor(data) {
    this.document = data;
    this.sides = data.sides;
    this.times = new Map();
    this.differences = this.differencesByNode();
    this.colourings = colourings(this);
    this.colouring = this.colourings.find((way) => way.name === "difference") || this.colourings.find((way) => way.name === "partition") || this.colourings[0];
    d3.select("#title").text(data.title);
    this.details = new Details(this);
    this.views = this.tabs();
    this.searching();
    this.choose(null);
    this.open("graph");
  }

  tabs() {
    const measured = this.sides.some((side) => side.measured);
    const list = [
      ["graph", "Graph", true, (view) => this.graphs(view)],
      ["times", "Time", measured, (view) => drawTimes(view, this)],
      ["arena", "Memory", this.sides.some((side) => side.measured && side.measured.arena), (view) => drawArenas(view, this)],
      ["ranges", "Ranges", this.sides.some((side) => rangeRows(side).length), (view) => drawRanges(view, this)],
      ["weights", "Weights", this.sides.some((side) => side.graphs.some((graph) => graph.tensors.some((tensor) => tensor.constant && tensor.histogram))), (view) => drawWeights(view, this)],
      ["differences", "Differences", Boolean(this.document.comparison), (view) => drawDifferences(view, this)],
    ].filter(([, , has]) => has);
    const views = new Map();
    for (const [name, title, , draw] of list) {
      const button = d3.select("#tabs").append("button").attr("role", "tab").attr("id", `tab-${name}`).text(title).on("click", () => this.open(name));
      const root = d3.select("#views").append("div").attr("class", "view").attr("id", `view-${name}`).attr("hidden", "");
      views.set(name, { button, root, draw, drawn: false });
    }
    return views;
  }

  open(name) {
    for (const [other, { button, root }] of this.views) {
      button.attr("aria-selected", other === name);
      root.attr("hidden", other === name ? null : "");
    }
    const view = this.views.get(name);
    if (!view.drawn) {
      view.drawn = true;
      const begun = performance.now();
      view.draw(view.root);
      view.root.attr("data-ms", Math.round(performance.now() - begun));
    }
  }

  graphs(view) {
    this.panes = this.sides.map((side, number) => new GraphPane(this, number, view));
    for (const pane of this.panes) pane.show(0);
    window.addEventListener("resize", () => this.panes.forEach((pane) => pane.map.draw()));
  }

  width() {
    return d3.select("#views").node().getBoundingClientRect().width;
  }

  colour(name) {
    this.colouring = this.colourings.find((way) => way.name === name);
    this.panes.forEach((pane) => pane.paint());
  }

  // choice: {side, graph, box, key?}; go: show it in its pane. Its counterpart in the other pane is shown with it.
  choose(choice, go = false) {
    this.chosen = choice;
    this.details.show(choice);
    for (const pane of this.panes || []) {
      if (!choice || pane.number === choice.side) pane.mark(choice, go);
      else pane.mark(this.counterpart(choice), true);
    }
  }

  chooseNode(side, graph, node, go) {
    const box = this.sides[side].graphs[graph].boxes.findIndex((each) => each.node === node);
    if (box < 0) return;
    if (go) this.open("graph");
    this.choose({ side, graph, box }, go);
  }

  openGraph(side, graph) {
    this.open("graph");
    this.panes[side].show(graph);
  }

  // The box of the other side that stands for the chosen one: by the comparison, else by name.
  counterpart(choice) {
    const other = 1 - choice.side;
    const graph = this.sides[other].graphs[choice.graph] ? choice.graph : 0;
    const box = this.sides[choice.side].graphs[choice.graph].boxes[choice.box];
    const boxes = this.sides[other].graphs[graph].boxes;
    if (!box) {
      const { name } = this.sides[choice.side].graphs[choice.graph].levels[-1 - choice.box];
      const level = this.sides[other].graphs[graph].levels.findIndex((each) => each.name === name);
      return level < 0 ? null : { side: other, graph, box: -1 - level };
    }
    const known = choice.graph === 0 && box.node >= 0 ? this.differenceOf(choice.side, box.node) : undefined;
    let found = known ? boxes.findIndex((each) => each.node === (other ? known.other_node : known.node) && each.node >= 0) : -1;
    if (found < 0 && box.node >= 0) {
      const { name } = this.sides[choice.side].graphs[choice.graph].nodes[box.node];
      found = boxes.findIndex((each) => each.node >= 0 && name && this.sides[other].graphs[graph].nodes[each.node].name === name);
    }
    return found < 0 ? null : { side: other, graph, box: found };
  }

  differencesByNode() {
    const found = [new Map(), new Map()];
    const worse = (a, b) => (a.db === null ? Infinity : typeof a.db === "number" ? a.db : -Infinity) - (b.db === null ? Infinity : typeof b.db === "number" ? b.db : -Infinity);
    for (const known of this.document.comparison ? this.document.comparison.differences : []) {
      for (const [map, node] of [[found[0], known.node], [found[1], known.other_node]]) {
        if (!map.has(node) || worse(known, map.get(node)) < 0) map.set(node, known);
      }
    }
    return found;
  }

  differenceOf(side, node) {
    return this.differences[side] && this.differences[side].get(node);
  }

  timesByNode(side) {
    if (!this.times.has(side)) this.times.set(side, d3.rollup(side.measured.times, (list) => d3.sum(list, (time) => time.median_ns), (time) => time.node));
    return this.times.get(side);
  }

  bytesByNode(side) {
    const sizes = new Map(side.measured.arena.places.map(({ tensor, bytes }) => [tensor, bytes]));
    const nodes = side.graphs[side.measured.graph].nodes;
    return new Map(nodes.map((node, n) => [n, d3.sum(node.outputs, (t) => sizes.get(t) || 0)]));
  }

  searching() {
    const input = d3.select("#search"), hits = d3.select("#hits");
    const close = () => { hits.attr("hidden", ""); for (const pane of this.panes || []) pane.found(new Set()); };
    input.on("input", () => this.search(input.property("value"), hits, close));
    input.on("keydown", (event) => {
      if (event.key === "Enter") hits.select("li").dispatch("click");
      if (event.key === "Escape") { input.property("value", ""); close(); input.node().blur(); }
    });
    d3.select(document).on("keydown", (event) => {
      if (event.target.tagName === "INPUT") return;
      if (event.key === "/") { event.preventDefault(); input.node().focus(); }
      if (event.key === "Escape") this.choose(null);
    });
    d3.select(document).on("click.hits", (event) => event.target.closest("#find") || hits.attr("hidden", ""));
  }

  search(text, hits, close) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return close();
    const found = [];
    const marks = this.sides.map(() => new Set());
    this.sides.forEach((side, s) => side.graphs.forEach((graph, g) => graph.boxes.forEach((box, b) => {
      const all = boxText(graph, box);
      if (!words.every((word) => all.includes(word))) return;
      found.push({ side: s, graph: g, box: b });
      marks[s].add(`${g}/${b}`);
    })));
    (this.panes || []).forEach((pane) => pane.found(marks[pane.number]));
    hits.attr("hidden", null).selectAll("li").data(found.slice(0, 60), () => Math.random()).join("li")
      .text((hit) => {
        const graph = this.sides[hit.side].graphs[hit.graph], box = graph.boxes[hit.box];
        const name = box.node >= 0 ? graph.nodes[box.node].name : graph.tensors[box.tensor].name;
        const where = this.sides.length > 1 ? `${this.sides[hit.side].label} · ` : "";
        return `${where}${hit.graph ? `${graph.name} · ` : ""}${box.title} · ${middle(name, 60)}`;
      })
      .on("click", (_, hit) => { hits.attr("hidden", ""); this.open("graph"); this.choose(hit, true); });
    if (!found.length) hits.append("li").attr("class", "none").text("nothing found");
    if (found.length > 60) hits.append("li").attr("class", "none").text(`and ${found.length - 60} more`);
  }

  tip(event, text) {
    const tip = d3.select("#tip");
    if (!event) return tip.attr("hidden", "");
    tip.attr("hidden", null).text(text).style("left", `${Math.min(event.clientX + 14, window.innerWidth - 320)}px`).style("top", `${event.clientY + 14}px`);
  }
}

// All that a box can be found by, in small letters.
function boxText(graph, box) {
  if (box.node < 0) return `${box.title} ${box.lines.join(" ")} ${graph.tensors[box.tensor].name}`.toLowerCase();
  const node = graph.nodes[box.node];
  const tensors = [...node.inputs, ...node.outputs].filter((t) => t >= 0).map((t) => graph.tensors[t]);
  return [node.op, node.name, ...box.lines, ...tensors.map((tensor) => `${tensor.name} ${tensor.type}`)].join(" ").toLowerCase();
}

const begun = performance.now();
const page = new Page(JSON.parse(document.getElementById("document").textContent));
document.documentElement.dataset.ready = Math.round(performance.now() - begun);
