"use strict";
// What is known of the chosen operator or tensor, beside the views; of the files where nothing is chosen.

class Details {
  constructor(page) {
    this.page = page;
    this.root = d3.select("#details");
  }

  show(choice) {
    this.root.selectAll("*").remove();
    this.root.property("scrollTop", 0);
    if (!choice) return this.files();
    const side = this.page.sides[choice.side];
    const graph = side.graphs[choice.graph];
    const box = graph.boxes[choice.box];
    if (!box) return this.scope(side, choice, graph);
    if (box.node < 0) return this.interface(side, graph, box);
    this.node(side, choice, graph.nodes[box.node], box.node);
  }

  files() {
    for (const side of this.page.sides) {
      this.head(side.label, side.kind);
      this.table(side.facts);
      this.operators(side.graphs.flatMap((graph) => graph.nodes));
      for (const note of side.notes) this.root.append("p").attr("class", "note").text(note);
    }
    this.root.append("p").attr("class", "made").text(`${this.page.document.made_by}. Wheel: zoom; drag: move; click: choose; /: search; Esc: nothing chosen.`);
  }

  operators(nodes) {
    const counts = d3.rollups(nodes, (list) => list.length, (node) => node.op);
    this.sub("Operators");
    this.table(d3.sort(counts, ([, count]) => -count).map(([op, count]) => [op, number(count)]));
  }

  scope(side, choice, graph) {
    const level = graph.levels[-1 - choice.box], nodes = nodesInside(graph, -1 - choice.box);
    this.head(level.title, `scope of ${graph.name}`);
    this.name(level.name);
    if (side.measured && side.measured.graph === choice.graph) {
      const times = this.page.timesByNode(side), spent = d3.sum(nodes, (n) => times.get(n));
      this.table([["time", `${timeText(spent)} · ${d3.format(".1%")(spent / Math.max(1, d3.sum(times.values())))}`]]);
    }
    this.operators(nodes.map((n) => graph.nodes[n]));
  }

  interface(side, graph, box) {
    this.head(box.title, graph.name);
    this.tensor(side, graph, box.tensor, "tensor");
  }

  node(side, choice, node, n) {
    const graph = side.graphs[choice.graph];
    this.head(node.op, `node ${n} of ${graph.name}`);
    if (node.name) this.name(node.name);
    const facts = [...node.details];
    if (side.measured && side.measured.graph === choice.graph) facts.push(...this.measured(side, n));
    this.table(facts);
    const known = choice.graph === 0 && this.page.differenceOf(choice.side, n);
    if (known) {
      this.sub(`Against ${this.page.document.comparison.second}`);
      this.table([["SQNR", dbText(known.db)], ["largest difference", short(known.largest)], ["largest value", short(known.of)]]);
    }
    node.calls.forEach(([role, called]) => this.link(`${role}: ${side.graphs[called].name}`, () => this.page.openGraph(choice.side, called)));
    this.sub("Inputs");
    node.inputs.forEach((t, i) => (t >= 0 ? this.tensor(side, graph, t, i, choice) : this.root.append("p").attr("class", "none").text(`${i}: none`)));
    this.sub("Outputs");
    node.outputs.filter((t) => t >= 0).forEach((t, i) => this.tensor(side, graph, t, i, choice));
  }

  measured(side, n) {
    const { measured } = side;
    const found = [];
    for (const time of measured.times.filter((each) => each.node === n)) {
      const share = time.median_ns / Math.max(1, d3.sum(measured.times, (each) => each.median_ns));
      found.push(["time", `${timeText(time.median_ns)} · ${d3.format(".1%")(share)}`]);
      if (time.macs) found.push(["multiply-adds", number(time.macs)]);
      found.push(["bytes in and out", number(time.bytes)]);
      if (time.gflops) found.push(["GFLOP/s", short(time.gflops)]);
    }
    const taken = measured.partitions.findIndex((nodes) => nodes.includes(n));
    if (taken >= 0) found.push([`delegate ${measured.delegate}`, `partition ${taken + 1}`]);
    for (const [node, reason] of measured.left_out) if (node === n) found.push([`not taken by ${measured.delegate}`, reason]);
    return found;
  }

  tensor(side, graph, t, role, choice) {
    const tensor = graph.tensors[t];
    const block = this.root.append("div").attr("class", "tensor");
    this.name(`${role}: ${tensor.name}`, block);
    const facts = [["type", `${tensor.type} ${tensor.shape}`]];
    if (tensor.value) facts.push(["value", tensor.value]);
    if (tensor.bytes !== null) facts.push(["bytes", number(tensor.bytes)]);
    if (tensor.scales) {
      const { count, axis, scale, zero_point: zero, range } = tensor.scales;
      const many = count > 1 ? `${count} along axis ${axis}, ` : "";
      facts.push(["scale", many + [...new Set(scale)].map(short).join(" to ")], ["zero point", [...new Set(zero)].join(" to ")], ["range", range.map(short).join(" to ")]);
    }
    const seen = side.measured && side.graphs[side.measured.graph] === graph && side.measured.seen.find(([each]) => each === t);
    if (seen) facts.push(["seen", `${short(seen[1])} to ${short(seen[2])}`]);
    this.table(facts, block);
    if (tensor.histogram) drawHistogram(block, tensor.histogram, 250, 60);
    if (choice) {
      const ends = graph.lines.filter((line) => line.tensor === t && (line.start === choice.box || line.end === choice.box));
      for (const line of ends.slice(0, 12)) {
        const other = line.start === choice.box ? line.end : line.start;
        const arrow = line.start === choice.box ? "to" : "from";
        this.link(`${arrow} ${graph.boxes[other].title} ${graph.boxes[other].lines[0] || ""}`, () => this.page.choose({ side: choice.side, graph: choice.graph, box: other }, true), block);
      }
    }
  }

  head(title, about) {
    this.root.append("h2").text(title).append("small").text(about);
  }

  name(text, parent = this.root) {
    breaking(parent.append("div").attr("class", "name").node(), text);
  }

  sub(title) {
    this.root.append("h3").text(title);
  }

  link(text, act, parent = this.root) {
    parent.append("button").attr("class", "link").text(text).on("click", act);
  }

  table(rows, parent = this.root) {
    const lines = parent.append("table").selectAll("tr").data(rows).join("tr");
    lines.append("th").text(([name]) => name);
    lines.append("td").each(function ([, value]) { breaking(this, `${value}`); });
  }
}

// Text that a line may end in where names are joined, rather than anywhere.
function breaking(element, text) {
  text.split(/(?<=[/_;])/).forEach((piece, n) => element.append(...(n ? [document.createElement("wbr")] : []), piece));
}

// Bars of how often values occur, with what they are from and to.
function drawHistogram(parent, histogram, width, height) {
  const svg = parent.append("svg").attr("class", "histogram").attr("viewBox", `0 0 ${width} ${height + 14}`).attr("width", width).attr("height", height + 14);
  const { low, high, counts } = histogram;
  const x = d3.scaleLinear([0, counts.length], [0, width]);
  const y = d3.scaleSqrt([0, d3.max(counts)], [0, height - 2]);
  const path = counts.map((count, i) => `M${x(i)},${height}V${height - y(count)}H${x(i + 1) - 0.4}V${height}Z`).join("");
  svg.append("path").attr("d", path).attr("class", "bars");
  if (low < 0 && high > 0) {
    const zero = ((0 - low) / (high - low)) * width;
    svg.append("line").attr("class", "zero").attr("x1", zero).attr("x2", zero).attr("y1", 0).attr("y2", height);
  }
  svg.append("text").attr("x", 0).attr("y", height + 11).text(short(low));
  svg.append("text").attr("x", width).attr("y", height + 11).attr("text-anchor", "end").text(short(high));
  svg.append("text").attr("x", width / 2).attr("y", height + 11).attr("text-anchor", "middle").text(`σ ${short(histogram.deviation)}${histogram.zeros > 0.005 ? ` · ${d3.format(".0%")(histogram.zeros)} zeros` : ""}${histogram.others ? ` · ${number(histogram.others)} not finite` : ""}`);
  return svg;
}
