"use strict";
// What is said in words and colours everywhere on the page.

const KINDS = [
  { name: "convolution", color: "#cfe0f5", match: /CONV|Conv/ },
  { name: "matrix product", color: "#d9d2f0", match: /FULLY_CONNECTED|MATMUL|MatMul|Einsum|LSTM|RNN|GRU|SVDF|ATTENTION/ },
  { name: "pooling, reduction", color: "#cdeae3", match: /POOL|Pool|MEAN|Mean$|REDUCE|^SUM$|^Sum$|ARG_M|ArgM|^Max$|^Min$|TOPK|TopK/ },
  { name: "activation", color: "#f9dcc9", match: /RELU|Relu|LOGISTIC|Sigmoid|TANH|Tanh|SOFTMAX|Softmax|GELU|Gelu|ELU$|Elu$|HARD_SWISH|SILU/ },
  { name: "quantization", color: "#f6d5df", match: /QUANT|Quant/ },
  { name: "shapes", color: "#e8e6df", match: /RESHAPE|Reshape|TRANSPOSE|Transpose|CONCAT|Concat|SPLIT|Split|SLICE|Slice|PACK|Pack|PAD|Pad|SQUEEZE|Squeeze|EXPAND|Expand|GATHER|Gather|SHAPE|Shape|Identity|TILE|Tile|CAST|Cast|BROADCAST|Broadcast|FILL|Fill|RESIZE|Resize|SPACE|DEPTH/ },
  { name: "control flow, calls", color: "#f7efb8", match: /^(WHILE|IF|CALL|CALL_ONCE)$|While|^If$|StatelessIf|PartitionedCall|NoOp|Switch|Merge|Enter|Exit|NextIteration/ },
  { name: "input, output", color: "#d5efcf", match: /^(input|output|argument|return|_Arg|_Retval)$|^Placeholder/ },
  { name: "elementwise and others", color: "#e2eaf0", match: /./ },
];
const PARTITIONS = d3.schemeTableau10.map((color) => d3.interpolateRgb(color, "#ffffff")(0.45));
const WITHOUT = "#f4f5f7"; // what a way of colouring says nothing of
const SCOPE = "#f3ecdc"; // operators that are folded

// The same colour where it must stand out from white, for bars and areas.
const strong = (color) => {
  const { h, c, l } = d3.hcl(color);
  return d3.hcl(h, Math.min(c * 2 + 12, 48), l - 20).formatHex();
};
const kindOf = (op) => KINDS.find((kind) => kind.match.test(op));

const UNITS = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]];
function timeText(ns) {
  const [unit, size] = UNITS.find(([, least]) => ns >= least) || UNITS[3];
  return `${d3.format(".3~g")(Number((ns / size).toPrecision(3)))} ${unit}`;
}

function bytesText(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const [unit, size] = bytes < 1 << 20 ? ["KiB", 1 << 10] : bytes < 1 << 30 ? ["MiB", 1 << 20] : ["GiB", 1 << 30];
  return `${d3.format(".3~g")(Number((bytes / size).toPrecision(3)))} ${unit}`;
}

const number = (value) => (typeof value === "number" ? d3.format(",")(value) : value === null ? "–" : "" + value);
const short = (value) => (typeof value === "number" ? d3.format(".4~g")(value) : "" + value);
const dbText = (db) => (db === null ? "equal" : typeof db === "number" ? `${db.toFixed(1)} dB` : `not finite (${db})`);
const middle = (text, most) => (text.length <= most ? text : `${text.slice(0, most / 2 - 1)}…${text.slice(-most / 2)}`);

// How boxes may be coloured: name, whether the page has it, and (side, graph, nodes, box) -> {color, badge}, of a box with
// its node (-1: none), or of a folded scope with all that it has, and no box.
function colourings(page) {
  const { comparison } = page.document;
  const measuredOf = (side, g) => (side.measured && side.measured.graph === g ? side.measured : null);
  const summed = (values, nodes) => (values && nodes.some((n) => values.has(n)) ? d3.sum(nodes, (n) => values.get(n)) : undefined);
  const share = (part, values) => Math.sqrt(Math.min(1, part / d3.max(values.values())));
  const found = [{
    name: "operator",
    of: (side, g, nodes, box) => ({ color: box ? kindOf(box.title).color : SCOPE }),
    legend: (side) => {
      const used = new Set(side.graphs.flatMap((graph) => graph.boxes.map((box) => kindOf(box.title))));
      return KINDS.filter((kind) => used.has(kind)).map(({ name, color }) => [name, color]);
    },
  }];
  if (page.sides.some((side) => side.measured)) found.push({
    name: "time",
    of: (side, g, nodes) => {
      const times = measuredOf(side, g) && page.timesByNode(side);
      const spent = summed(times, nodes);
      return spent === undefined ? { color: WITHOUT } : { color: d3.interpolateOrRd(share(spent, times) * 0.45), badge: timeText(spent) };
    },
    legend: () => [0, 0.25, 1].map((part) => [part ? `${part * 100} % of the slowest` : "hardly any", d3.interpolateOrRd(Math.sqrt(part) * 0.45)]),
  });
  if (page.sides.some((side) => side.measured && side.measured.arena)) found.push({
    name: "memory",
    of: (side, g, nodes) => {
      const measured = measuredOf(side, g);
      const sizes = measured && measured.arena && page.bytesByNode(side);
      const bytes = summed(sizes, nodes);
      return bytes === undefined ? { color: WITHOUT } : { color: d3.interpolateBlues(share(bytes, sizes) * 0.43), badge: bytesText(bytes) };
    },
    legend: () => [0, 0.25, 1].map((part) => [part ? `${part * 100} % of the largest result` : "hardly any", d3.interpolateBlues(Math.sqrt(part) * 0.43)]),
  });
  if (page.sides.some((side) => side.measured && side.measured.delegate)) found.push({
    name: "partition",
    of: (side, g, nodes) => {
      const measured = measuredOf(side, g);
      const place = measured ? measured.partitions.findIndex((taken) => nodes.some((n) => taken.includes(n))) : -1;
      return place < 0 ? { color: WITHOUT } : { color: PARTITIONS[place % PARTITIONS.length], badge: `#${place + 1}` };
    },
    legend: (side) => {
      if (!side.measured) return [];
      const list = side.measured.partitions.map((nodes, i) => [`${side.measured.delegate} #${i + 1}: ${nodes.length} nodes`, PARTITIONS[i % PARTITIONS.length]]);
      return [...list.slice(0, 8), ...(list.length > 8 ? [[`and ${list.length - 8} more`, "#fff"]] : []), ["not taken", WITHOUT]];
    },
  });
  if (comparison) found.push({
    name: "difference",
    of: (side, g, nodes) => {
      const all = g === 0 ? nodes.map((n) => page.differenceOf(page.sides.indexOf(side), n)).filter(Boolean) : [];
      const known = d3.least(all, ({ db }) => (db === null ? Infinity : typeof db === "number" ? db : -Infinity));
      if (!known) return { color: WITHOUT };
      return { color: differenceColor(known.db), badge: dbText(known.db) };
    },
    legend: () => [[`equal`, differenceColor(null)], ["60 dB", differenceColor(60)], ["30 dB", differenceColor(30)], ["10 dB and below", differenceColor(10)]],
  });
  return found;
}

function differenceColor(db) {
  if (db === null) return "#d7ecd0";
  const share = typeof db === "number" ? Math.max(0, Math.min(1, (db - 10) / 50)) : 0;
  return d3.interpolateRgb(d3.interpolateRdYlGn(0.12 + share * 0.7), "#ffffff")(0.5);
}
