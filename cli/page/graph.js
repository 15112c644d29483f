"use strict";
// A pane with the graph of one file: zoomed by the wheel, moved by dragging; a click chooses a box.

const CURVE = d3.line().curve(d3.curveMonotoneY);
const READABLE = 0.42; // below this zoom only titles are drawn, below the next only colours
const BLOCKS = 0.2;
const MANY = 1000; // operators, beyond which name scopes are folded at first

class GraphPane {
  constructor(page, number, parent) {
    Object.assign(this, { page, number, side: page.sides[number], graph: 0, unfolded: new Set(), chosen: null });
    this.root = parent.append("div").attr("class", "pane");
    this.bar();
    this.legend = this.root.append("div").attr("class", "legend");
    this.svg = this.root.append("svg").attr("class", "canvas").attr("tabindex", 0);
    this.svg.append("defs").html('<marker id="tip' + number + '" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto"><path d="M0 0.5L8 4L0 7.5z" class="tip"/></marker>');
    this.world = this.svg.append("g");
    this.zoom = d3.zoom().scaleExtent([0.01, 4]).on("zoom", ({ transform }) => this.moved(transform));
    this.svg.call(this.zoom).on("dblclick.zoom", null).on("click", (event) => event.target === this.svg.node() && page.choose(null));
    this.map = new Minimap(this);
    this.drawn = false;
  }

  bar() {
    const bar = this.root.append("div").attr("class", "bar");
    bar.append("strong").text(this.side.label).attr("title", this.side.facts.map((fact) => fact.join(": ")).join("\n"));
    const graphs = bar.append("select").attr("class", "graphs").attr("title", "Which graph").on("change", () => this.show(Number(graphs.property("value"))));
    graphs.selectAll("option").data(this.side.graphs).join("option").attr("value", (_, i) => i).text((graph, i) => `${middle(graph.name, 48)} · ${graph.nodes.length}`);
    graphs.attr("hidden", this.side.graphs.length > 1 ? null : "");
    this.choices = graphs;
    const label = bar.append("label").text("colour ");
    const colour = label.append("select").attr("class", "colour").on("change", () => this.page.colour(colour.property("value")));
    colour.selectAll("option").data(this.page.colourings).join("option").text((way) => way.name);
    this.colourChoice = colour;
    this.scopes = bar.append("button").attr("class", "scopes").text("scopes").attr("title", "Fold operators by the paths in their names").on("click", () => this.foldScopes(!this.folds));
    for (const [text, title, act] of [["−", "smaller", () => this.svg.transition().duration(150).call(this.zoom.scaleBy, 0.7)], ["+", "larger", () => this.svg.transition().duration(150).call(this.zoom.scaleBy, 1.4)], ["whole", "The whole graph", () => this.whole(true)], ["1:1", "Readable, from the top", () => this.start(true)]]) {
      bar.append("button").text(text).attr("title", title).on("click", act);
    }
    this.count = bar.append("span").attr("class", "count");
  }

  show(graph) {
    this.graph = graph;
    this.choices.property("value", graph);
    const { levels, nodes } = this.side.graphs[graph];
    this.scopes.attr("hidden", levels.length ? null : "");
    this.folds = this.folds ?? nodes.length > MANY;
    this.draw();
    this.start(false);
  }

  foldScopes(folds) {
    this.folds = folds;
    this.draw();
    this.start(true);
  }

  // Lay the graph out and draw it; what is chosen stays.
  draw() {
    this.scopes.attr("aria-pressed", this.folds);
    this.placed = placeGraph(this, this.graph);
    this.places = new Map();
    this.world.selectAll("*").remove();
    this.level(this.world, this.placed, 0, 0);
    this.paint();
    this.map.draw();
    const boxes = this.side.graphs[this.graph].nodes.length;
    this.count.text(`${d3.format(",")(boxes)} operator${boxes === 1 ? "" : "s"}`);
    this.drawn = true;
    if (this.chosen) this.mark(this.chosen);
  }

  level(parent, placed, left, top) {
    const lines = parent.append("g").attr("class", "lines");
    const graphOf = placed.boxes.length ? this.side.graphs[placed.boxes[0].graph] : null;
    lines.selectAll("path").data(placed.lines.filter((line) => line.points)).join("path")
      .attr("d", (line) => linePath(line)).attr("marker-end", `url(#tip${this.number})`)
      .attr("class", (line) => (line.tensor < 0 ? "order" : null))
      .on("mousemove", (event, line) => line.tensor >= 0 && this.page.tip(event, tensorWords(graphOf.tensors[line.tensor])))
      .on("mouseleave", () => this.page.tip(null));
    const boxes = parent.append("g").selectAll("g").data(placed.boxes).join("g").attr("class", "box")
      .attr("transform", ({ x, y }) => `translate(${x},${y})`)
      .on("click", (event, place) => {
        event.stopPropagation();
        this.page.choose({ side: this.number, graph: place.graph, box: place.box, key: place.key });
      });
    boxes.append("rect").attr("rx", 5).attr("width", (place) => place.width).attr("height", (place) => place.height);
    for (const place of placed.boxes) {
      this.places.set(place.key, { ...place, x: place.x + left, y: place.y + top });
    }
    const pane = this;
    boxes.each(function (place) { pane.words(d3.select(this), place, left, top); });
    this.farLines(parent, placed, graphOf);
  }

  words(group, place, left, top) {
    const { title, lines, unfolds } = place.face;
    const { width } = place.inner.length ? place.own : place; // what is unfolded keeps its words in its corner
    const centre = width / 2;
    const row = (n) => BOX.pad + BOX.title - 2 + BOX.line * n;
    group.append("text").attr("class", "title").attr("x", centre).attr("y", row(0)).text(title);
    lines.forEach((line, n) => group.append("text").attr("class", n ? "line constants" : "line").attr("x", centre).attr("y", row(n + 1)).text(line));
    unfolds.forEach(({ label, about }, n) => {
      const key = `${place.key}/${n}`, open = this.unfolded.has(key);
      const chip = group.append("g").attr("class", "fold").attr("data-key", key)
        .on("click", (event) => { event.stopPropagation(); this.fold(key); });
      chip.append("title").text(`${open ? "Fold" : "Unfold"} ${about}`);
      const y = row(lines.length + n + 1);
      chip.append("rect").attr("x", 6).attr("y", y - 10).attr("width", width - 12).attr("height", 13).attr("rx", 3);
      chip.append("text").attr("class", "line").attr("x", centre).attr("y", y).text(`${open ? "▾" : "▸"} ${label}`);
    });
    for (const { x, y, placed } of place.inner) {
      const inner = group.append("g").attr("transform", `translate(${x},${y})`);
      inner.append("rect").attr("class", "inside").attr("x", -8).attr("y", -8).attr("rx", 6).attr("width", placed.width + 16).attr("height", placed.height + 16);
      this.level(inner, placed, left + place.x + x, top + place.y + y);
    }
  }

  // A value from far above, or from outside a scope, is named where it goes in; by a click one gets to where it comes from.
  farLines(parent, placed, graph) {
    const far = placed.lines.filter((line) => !line.points).map(({ start, end, tensor }) => [end, tensor, placed.boxes[start]]);
    for (const [end, tensor, b] of placed.entering) far.push([end, tensor, { graph: placed.boxes[end].graph, box: b }]);
    const nth = new Map();
    parent.append("g").attr("class", "far").selectAll("g").data(far).join("g").each(([to, tensor, from], i, all) => {
      const end = placed.boxes[to], n = nth.get(to) || 0;
      nth.set(to, n + 1);
      const x = Math.min(end.x + 8 + n * 12, end.x + end.width - 4), y = end.y;
      const group = d3.select(all[i]).on("click", (event) => {
        event.stopPropagation();
        this.page.choose({ side: this.number, graph: from.graph, box: from.box, key: from.key }, true);
      });
      const { title } = faceOf(this.side, from.graph, from.box);
      group.append("title").text(`${tensor >= 0 ? graph.tensors[tensor].name : title}\nfrom ${title}`);
      group.append("path").attr("d", `M${x} ${y - 11}V${y}`).attr("marker-end", `url(#tip${this.number})`);
      group.append("circle").attr("cx", x).attr("cy", y - 11).attr("r", 3);
    });
  }

  fold(key) {
    const before = this.places.get(key.replace(/\/\d+$/, ""));
    if (!this.unfolded.delete(key)) this.unfolded.add(key);
    const at = d3.zoomTransform(this.svg.node());
    this.draw();
    const after = this.places.get(key.replace(/\/\d+$/, ""));
    if (before && after) this.svg.call(this.zoom.transform, this.inView(at.translate(before.x - after.x, before.y - after.y), after));
  }

  // The box stays where it is on the screen, but for what would be outside; where it is too large, its beginning is inside.
  inView(at, { x, y, width, height }) {
    const size = this.size(), moved = [[x, width], [y, height]].map(([from, extent], axis) => {
      const begin = (axis ? at.y : at.x) + from * at.k;
      return Math.max(Math.min(begin, size[axis] - 15 - extent * at.k), 15) - begin;
    });
    return d3.zoomIdentity.translate(at.x + moved[0], at.y + moved[1]).scale(at.k);
  }

  paint() {
    const way = this.page.colouring;
    this.colourChoice.property("value", way.name);
    const pane = this;
    this.world.selectAll("g.box").each(function (place) {
      const graph = pane.side.graphs[place.graph], box = graph.boxes[place.box];
      const { color, badge } = way.of(pane.side, place.graph, box ? [box.node] : nodesInside(graph, -1 - place.box), box);
      const group = d3.select(this);
      group.classed("holds", place.inner.length > 0).select("rect").attr("fill", color);
      place.color = color;
      const pill = group.selectAll(":scope > g.badge").data(badge ? [badge] : []).join((enter) => {
        const made = enter.append("g").attr("class", "badge");
        made.append("rect");
        made.append("text");
        return made;
      });
      if (!badge) return;
      const width = textWidth(badge, false) + 10;
      pill.attr("transform", `translate(${place.width - 18},-10)`);
      pill.select("rect").attr("width", width).attr("height", 15).attr("rx", 7);
      pill.select("text").attr("x", width / 2).attr("y", 11).text(badge);
    });
    const entries = way.legend(this.side);
    this.legend.selectAll("span").data(entries).join("span").text(([name]) => name).style("--color", ([, color]) => color);
    this.map.draw();
  }

  moved(transform) {
    this.world.attr("transform", transform);
    this.svg.classed("titles", transform.k < READABLE).classed("blocks", transform.k < BLOCKS);
    this.map.view(transform);
  }

  size() {
    const { width, height } = this.svg.node().getBoundingClientRect();
    return [Math.max(width, 50), Math.max(height, 50)];
  }

  whole(slowly) {
    const [width, height] = this.size();
    const k = Math.min(1.2, (width - 30) / Math.max(this.placed.width, 1), (height - 30) / Math.max(this.placed.height, 1));
    const x = (width - this.placed.width * k) / 2, y = Math.max(15, (height - this.placed.height * k) / 2);
    this.go(d3.zoomIdentity.translate(x, y).scale(k), slowly);
  }

  // The whole where it can be read so, else its beginning.
  start(slowly) {
    const [width, height] = this.size();
    const k = Math.min(1, (width - 30) / Math.max(this.placed.width, 1), (height - 30) / Math.max(this.placed.height, 1));
    if (k > 0.6) return this.whole(slowly);
    const scale = 0.85;
    const first = this.placed.boxes[0] || { x: 0, width: 0 };
    const drawn = this.placed.width * scale, free = width - this.map.width() - 36; // beside the map, which is shown
    const x = drawn < free ? (free - drawn) / 2 : Math.min(24, width / 3 - (first.x + first.width / 2) * scale);
    this.go(d3.zoomIdentity.translate(Math.max(x, 24 - first.x * scale), 24).scale(scale), slowly);
  }

  go(transform, slowly) {
    (slowly ? this.svg.transition().duration(350) : this.svg).call(this.zoom.transform, transform);
  }

  // Mark the chosen box and its lines; go there if asked.
  mark(choice, go) {
    this.chosen = choice;
    if (choice && choice.graph !== this.graph && !this.places.has(choice.key)) this.show(choice.graph);
    if (choice && !this.places.has(choice.key)) this.unfoldTo(choice.graph, choice.box);
    const key = choice && (choice.key && this.places.has(choice.key) ? choice.key : keyOf(this.graph, choice.box));
    this.world.selectAll("g.box").classed("chosen", (place) => place.key === key);
    this.world.selectAll("g.lines").each(function () {
      const boxes = d3.select(this.parentNode).selectAll(":scope > g > g.box").data();
      d3.select(this).selectAll("path").classed("near", (line) => key && boxes.length > 0 && (boxes[line.start]?.key === key || boxes[line.end]?.key === key));
    });
    const place = key && this.places.get(key);
    if (go && place) this.centre(place);
  }

  centre(place) {
    const [width, height] = this.size();
    const k = Math.max(0.8, Math.min(1.2, d3.zoomTransform(this.svg.node()).k));
    const x = width / 2 - (place.x + place.width / 2) * k, y = height / 2 - (place.y + Math.min(place.height, 80) / 2) * k;
    this.go(d3.zoomIdentity.translate(x, y).scale(k), true);
  }

  found(keys) {
    const hit = (place) => (place.box < 0 ? boxesInside(this.side.graphs[place.graph], -1 - place.box).some((b) => keys.has(`${place.graph}/${b}`)) : keys.has(`${place.graph}/${place.box}`));
    this.world.selectAll("g.box").classed("hit", hit);
  }

  // Unfold the scopes that a box of the graph that is shown lies in.
  unfoldTo(graph, b) {
    const { levels } = this.side.graphs[graph];
    if (graph !== this.graph || !this.folds || !levels.length || this.places.has(keyOf(graph, b))) return;
    let level = levels.findIndex((each) => each.boxes.includes(b));
    for (; level > 0; level = levels[level].parent) this.unfolded.add(`${keyOf(graph, -1 - level)}/0`);
    this.draw();
  }
}

function linePath({ points, turned }) {
  if (!turned) return CURVE(points);
  return turned.map(([x, y], i) => `${i ? "L" : "M"}${x},${y}`).join("") + CURVE([turned[turned.length - 1], ...points]).replace("M", "L");
}

const tensorWords = (tensor) => `${tensor.name}\n${tensor.type} ${tensor.shape}`;
