"use strict";
// Where boxes stand. Each block between two cuts of a graph is laid out by dagre; blocks follow each other downwards, and
// a long graph is broken into columns. A box whose graphs are unfolded is as large as what it holds.

const BOX = { title: 14, line: 13, pad: 7, side: 10, least: 64, node: 22, rank: 26, column: 70, inner: 16 };
const ASPECT = 1.5; // the width of a picture by its height
const blockCache = new Map();

const textWidth = (() => {
  const context = document.createElement("canvas").getContext("2d");
  const known = new Map();
  return (text, bold) => {
    const key = (bold ? "b" : "n") + text;
    if (!known.has(key)) {
      context.font = bold ? "600 12px system-ui, sans-serif" : "10.5px system-ui, sans-serif";
      known.set(key, context.measureText(text).width);
    }
    return known.get(key);
  };
})();

// What a graph shows: all of it, or one of its levels, where name scopes are boxes. The graphs that boxes unfold are
// parts of a pane: {side, unfolded: keys, folds: whether scopes are folded}.
function levelOf(graph, level, folds) {
  if (folds && graph.levels.length) return graph.levels[level];
  return { boxes: graph.boxes.map((_, b) => b), lines: graph.lines, blocks: graph.blocks, entering: [] };
}

// What stands in a box (below 0: a folded scope), and what it unfolds: [{label, about, graph, level}].
function faceOf(side, index, b) {
  const graph = side.graphs[index];
  if (b < 0) {
    const { title, name, operators } = graph.levels[-1 - b];
    const counts = d3.rollups(nodesInside(graph, -1 - b), (list) => list.length, (n) => graph.nodes[n].op);
    const most = d3.sort(counts, ([, count]) => -count).map(([op, count]) => (count > 1 ? `${count} ${op}` : op));
    return { title: middle(title, 34), lines: [middle(most.slice(0, 3).join(", "), 40)], unfolds: [{ label: `${number(operators)} operators`, about: name, graph: index, level: -1 - b }] };
  }
  const box = graph.boxes[b];
  const calls = box.node >= 0 ? graph.nodes[box.node].calls : [];
  return { title: box.title, lines: box.lines, unfolds: calls.map(([role, called]) => ({ label: role, about: side.graphs[called].name, graph: called, level: 0 })) };
}

// The box's own size, with a line for each graph that it can unfold.
function boxSize({ title, lines, unfolds }) {
  const widths = [textWidth(title, true), ...lines.map((line) => textWidth(line, false))];
  for (const { label } of unfolds) widths.push(textWidth("▸ " + label, false) + 24);
  return {
    width: Math.max(BOX.least, Math.ceil(Math.max(...widths)) + 2 * BOX.side),
    height: BOX.title + BOX.line * (lines.length + unfolds.length) + 2 * BOX.pad,
  };
}

// The graph's boxes in a level, also in those that it has inside.
function boxesInside(graph, level) {
  return graph.levels[level].boxes.flatMap((b) => (b < 0 ? boxesInside(graph, -1 - b) : [b]));
}

const nodesInside = (graph, level) => boxesInside(graph, level).map((b) => graph.boxes[b].node).filter((n) => n >= 0);

const keyOf = (path, b) => (b < 0 ? `${path}/s${-1 - b}` : `${path}/${b}`);

// {boxes: [{key, graph, box, face, x, y, width, height, inner}], lines: [{start, end, tensor, points, turned}], entering,
// width, height} with the corners of boxes, and of what they hold from their own corner. Unfolded are keys "path/box/nth";
// what is in a scope has the path of the scope itself.
function placeGraph(pane, index, path = "" + index, level = 0) {
  const { boxes: shown, lines, blocks, entering } = levelOf(pane.side.graphs[index], level, pane.folds);
  const boxes = shown.map((b) => {
    const key = keyOf(path, b), face = faceOf(pane.side, index, b);
    const found = { key, graph: index, box: b, face, inner: [], own: boxSize(face) };
    let { width, height } = found.own;
    let x = BOX.inner;
    face.unfolds.forEach((each, n) => {
      if (!pane.unfolded.has(`${key}/${n}`)) return;
      const inner = placeGraph(pane, each.graph, b < 0 ? path : `${key}/${n}/${each.graph}`, each.level);
      found.inner.push({ x, y: found.own.height + BOX.inner, placed: inner });
      x += inner.width + 2 * BOX.inner;
      width = Math.max(width, x - BOX.inner);
      height = Math.max(height, found.own.height + inner.height + 3 * BOX.inner);
    });
    return Object.assign(found, { width, height, x: 0, y: 0 });
  });
  return { ...stacked({ lines, blocks }, boxes), entering };
}

function stacked(graph, boxes) {
  const homes = blockLines(graph);
  const parts = graph.blocks.map((block, number) => laidOut(block, homes[number], graph, boxes));
  const widest = d3.max(parts, (part) => part.width) || 0;
  const total = d3.sum(parts, (part) => part.height);
  const most = Math.max(900, Math.sqrt((total * (widest + BOX.column)) / ASPECT));
  const columns = [];
  let bottom = 0, left = total;
  parts.forEach((part, number) => {
    const block = graph.blocks[number];
    const top = number && graph.blocks[number - 1].includes(block[0]) ? block[0] : -1;
    const anchor = top >= 0 ? part.at.get(top) : null;
    const inside = anchor ? anchor.y + anchor.height : 0; // what the box above already takes of the part
    const breaks = anchor && bottom > most * 0.4 && bottom + part.height - inside > most && left > most * 0.25;
    left -= part.height;
    let shift = [0, bottom ? bottom + BOX.rank : 0];
    if (breaks) shift = [0, -inside];
    else if (anchor) shift = [boxes[top].x - anchor.x, boxes[top].y - anchor.y];
    if (breaks || !columns.length) columns.push({ boxes: [], lines: [], xs: [] });
    bottom = put(columns[columns.length - 1], part, shift, boxes, breaks ? top : -1, top) || bottom;
  });
  return normalized(boxes, [...besideEachOther(columns, boxes), ...graph.lines.filter((line) => line.far).map((line) => ({ ...line, points: null }))]);
}

// Put a part into its column, all but the box that stands there or in the column before; gives how far down it goes.
function put(column, part, [dx, dy], boxes, before, known) {
  for (const [b, place] of part.at) {
    if (b === known) continue;
    Object.assign(boxes[b], { x: place.x + dx, y: place.y + dy });
    column.boxes.push(boxes[b]);
    column.xs.push(boxes[b].x, boxes[b].x + place.width);
  }
  for (const { line, points } of part.lines) {
    const moved = points.map(([x, y]) => [x + dx, y + dy]);
    column.lines.push({ ...line, points: moved, from: line.start === before ? before : -1 });
    for (const [x] of line.start === before ? moved.slice(1) : moved) column.xs.push(x);
  }
  return d3.max(part.at, ([b, place]) => (b === known ? 0 : place.y + dy + place.height));
}

// Columns moved to the right of each other, and the lines between them led through what is left between.
function besideEachOther(columns, boxes) {
  const lines = [];
  let right = 0;
  columns.forEach((column, number) => {
    const left = number ? right + BOX.column : 0;
    const dx = left - d3.min(column.xs);
    for (const box of column.boxes) box.x += dx;
    for (const { from, points, ...line } of column.lines) {
      const moved = points.map(([x, y]) => [x + dx, y]);
      lines.push({ ...line, points: from < 0 ? moved : around(boxes[from], moved, left) });
    }
    right = dx + d3.max(column.xs);
  });
  return lines;
}

// A line from the bottom of a column to the top of the next one, whose first point is where it would begin there.
function around(box, points, left) {
  const x = box.x + box.width / 2, y = box.y + box.height;
  const gutter = left - BOX.column / 2;
  const rest = points.slice(1);
  const turned = [[x, y], [x, y + BOX.rank / 2], [gutter, y + BOX.rank / 2], [gutter, -BOX.rank / 2], [rest[0][0], -BOX.rank / 2]];
  return Object.assign(rest, { turned });
}

// Everything moved so that the corner is at 0, 0.
function normalized(boxes, lines) {
  const xs = boxes.map((box) => box.x), ys = boxes.map((box) => box.y);
  for (const line of lines) for (const [x] of line.points || []) xs.push(x);
  const x0 = Math.min(0, d3.min(xs) ?? 0), y0 = Math.min(0, d3.min(ys) ?? 0);
  const moved = ([x, y]) => [x - x0, y - y0];
  for (const box of boxes) [box.x, box.y] = moved([box.x, box.y]);
  for (const line of lines) {
    if (!line.points) continue;
    const { turned } = line.points;
    line.points = line.points.map(moved);
    if (turned) line.turned = turned.map(moved);
  }
  const right = Math.max(d3.max(boxes, (box) => box.x + box.width) ?? 0, (d3.max(xs) ?? 0) - x0);
  return { boxes, lines, width: right, height: d3.max(boxes, (box) => box.y + box.height) ?? 0 };
}

// The lines of each block; those whose boxes are in no block together are far ones.
function blockLines(graph) {
  const home = new Map();
  graph.blocks.forEach((block, number) => {
    for (const b of block) home.set(b, [...(home.get(b) || []), number]);
  });
  const found = graph.blocks.map(() => []);
  for (const line of graph.lines) {
    if (line.far) continue;
    const number = home.get(line.start).find((n) => home.get(line.end).includes(n));
    if (number !== undefined) found[number].push(line);
  }
  return found;
}

// A block by dagre; networks repeat their blocks, so that most are known already.
function laidOut(block, lines, graph, boxes) {
  const place = new Map(block.map((b, i) => [b, i]));
  const sizes = block.map((b) => [boxes[b].width, boxes[b].height]);
  const ends = lines.map((line) => [place.get(line.start), place.get(line.end)]);
  const key = JSON.stringify([sizes, ends]);
  if (!blockCache.has(key)) blockCache.set(key, ends.length === 1 && block.length === 2 ? straight(sizes, ends) : byDagre(sizes, ends));
  const known = blockCache.get(key);
  const at = new Map(block.map((b, i) => [b, { ...known.at[i], width: sizes[i][0], height: sizes[i][1] }]));
  const drawn = lines.map((line, i) => ({ line, points: known.points[i] }));
  return { at, lines: drawn, width: known.width, height: known.height, bends: known.points.flat().map(([x]) => x) };
}

function straight([[w0, h0], [w1, h1]], [[start]]) {
  const width = Math.max(w0, w1), middle = width / 2;
  const [top, below] = start === 0 ? [h0, h1] : [h1, h0];
  const places = [{ x: middle - w0 / 2, y: start === 0 ? 0 : top + BOX.rank }, { x: middle - w1 / 2, y: start === 0 ? top + BOX.rank : 0 }];
  return { at: places, points: [[[middle, top], [middle, top + BOX.rank]]], width, height: top + BOX.rank + below };
}

function byDagre(sizes, ends) {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({ nodesep: BOX.node, ranksep: BOX.rank, edgesep: 10, ranker: sizes.length > 400 ? "longest-path" : "network-simplex" });
  graph.setDefaultEdgeLabel(() => ({}));
  sizes.forEach(([width, height], i) => graph.setNode("" + i, { width, height }));
  ends.forEach(([a, b], i) => graph.setEdge("" + a, "" + b, {}, "" + i));
  dagre.layout(graph);
  const at = sizes.map(([width, height], i) => {
    const { x, y } = graph.node("" + i);
    return { x: x - width / 2, y: y - height / 2 };
  });
  const points = ends.map(([a, b], i) => graph.edge({ v: "" + a, w: "" + b, name: "" + i }).points.map(({ x, y }) => [x, y]));
  const { width = 0, height = 0 } = graph.graph();
  return { at, points, width: Number.isFinite(width) ? width : 0, height: Number.isFinite(height) ? height : 0 };
}
