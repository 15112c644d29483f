"use strict";
// The whole graph in a corner of its pane, with what the pane shows of it; clicking and dragging goes there.

class Minimap {
  constructor(pane) {
    this.pane = pane;
    this.root = pane.root.append("canvas").attr("class", "map").attr("title", "The whole graph");
    const go = (event) => {
      const [x, y] = d3.pointer(event, this.root.node());
      this.goTo(x / this.scale, y / this.scale);
    };
    this.root.call(d3.drag().container(this.root.node()).on("start drag", (event) => go(event.sourceEvent)));
  }

  width() {
    return this.root.node().width / (this.ratio || 1);
  }

  draw() {
    const { placed } = this.pane;
    if (!placed) return;
    this.scale = Math.min(170 / Math.max(placed.width, 1), 200 / Math.max(placed.height, 1));
    const [width, height] = [Math.max(8, placed.width * this.scale), Math.max(8, placed.height * this.scale)];
    this.ratio = window.devicePixelRatio || 1;
    this.root.attr("width", width * this.ratio).attr("height", height * this.ratio).style("width", `${width}px`).style("height", `${height}px`);
    this.view(d3.zoomTransform(this.pane.svg.node()));
  }

  view({ x, y, k }) {
    const { placed } = this.pane;
    const context = this.root.node().getContext("2d");
    if (!placed || !this.scale) return;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, placed.width, placed.height);
    for (const box of placed.boxes) {
      context.fillStyle = box.color ? d3.color(box.color).darker(0.6) : "#b9c2cf";
      context.fillRect(box.x * this.scale, box.y * this.scale, Math.max(1.5, box.width * this.scale), Math.max(1, box.height * this.scale));
    }
    const [width, height] = this.pane.size();
    const all = x >= 0 && y >= 0 && x + placed.width * k <= width && y + placed.height * k <= height;
    this.root.attr("hidden", all ? "" : null);
    context.strokeStyle = "#d9480f";
    context.lineWidth = 1.5;
    context.strokeRect((-x / k) * this.scale, (-y / k) * this.scale, (width / k) * this.scale, (height / k) * this.scale);
  }

  goTo(x, y) {
    const { pane } = this;
    const [width, height] = pane.size();
    const { k } = d3.zoomTransform(pane.svg.node());
    pane.go(d3.zoomIdentity.translate(width / 2 - x * k, height / 2 - y * k).scale(k), false);
  }
}
