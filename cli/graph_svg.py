"""A picture of a graph as SVG, without any other program."""

from __future__ import annotations

from itertools import pairwise
from xml.sax.saxutils import escape

from ..converter.ir.module import Function, Graph
from ..schema.shown import shown_lines
from .graph_boxes import Box, Drawing, drawing_of, shortened
from .graph_dot import COLORS
from .graph_layout import Layout, Route, layout

# In pixels. The letters' width is that of the widest common ones.
_LETTER, _LINE, _PAD = 6.6, 14, 8
_GAP, _BETWEEN, _MARGIN = 18, 30, 20
_NARROWEST = 60
_SMALL = 0.8  # the size of constants' letters to that of others
_COLUMN_GAP = 60


def svg(body: Graph | Function) -> str:
    """The graph in layers from its inputs down; control edges are dashed, details are tooltips.

    Constants stand inside the boxes that use them, and a value that is used far below is named there. A long
    graph is broken into columns. UnsupportedError when a part of it is too large for a picture.
    """
    return _Picture(drawing_of(body, fold=True)).text(body.name if isinstance(body, Function) else "graph")


class _Picture:
    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.widths = [_width(box) for box in drawing.boxes]
        rows = 3 if any(box.constants for box in drawing.boxes) else 2
        self.height = rows * _LINE + _PAD
        lines = [(line.start, line.end) for line in drawing.lines]
        self.pitch = self.height + _BETWEEN
        self.layout: Layout = layout(self.widths, lines, _GAP, self.pitch, _COLUMN_GAP)
        ends = [*self.layout.columns[1:], self.layout.layers]
        self.rows = max(end - start for start, end in zip(self.layout.columns, ends, strict=True))
        self.column = [0] * (self.layout.layers + 1)
        for number, start in enumerate(self.layout.columns):
            self.column[start:] = [number] * (len(self.column) - start)

    def text(self, title: str) -> str:
        width = self.layout.width + 2 * _MARGIN
        height = max(self.rows, 1) * self.pitch - _BETWEEN + 2 * _MARGIN
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" '
            'font-family="Helvetica, Arial, sans-serif" font-size="11">',
            f"<title>{_text(title)}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
            'orient="auto"><path d="M0 0L8 4L0 8z" fill="#666"/></marker></defs>',
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
            *self._lines(),
        ]
        places = zip(self.drawing.boxes, self.layout.x, self.layout.layer, self.widths, strict=True)
        parts += [self._box(box, x + _MARGIN, self._top(layer), wide) for box, x, layer, wide in places]
        return "\n".join([*parts, "</svg>"])

    def _top(self, layer: int) -> float:
        return _MARGIN + (layer - self.layout.columns[self.column[layer]]) * self.pitch

    def _box(self, box: Box, x: float, top: float, width: float) -> str:
        about = (f"{box.title} {box.name}".strip(), *box.details, *box.constants)
        first = top + (_LINE + 1 if box.name or box.constants else self.height / 2 + 4)
        texts = _centered(box.title, x, first, 'font-weight="bold"')
        if box.name:
            texts += _centered(shortened(box.name), x, top + 2 * _LINE + 1, 'fill="#444"')
        if box.constants:
            style = f'fill="#777" font-size="{11 * _SMALL:.1f}"'
            texts += _centered(_constants(box), x, top + 3 * _LINE, style)
        return (
            f'<g><title>{_text(chr(10).join(about))}</title><rect x="{x - width / 2:.1f}" y="{top:.1f}" '
            f'width="{width:.1f}" height="{self.height}" rx="4" fill="{COLORS[box.kind]}" stroke="#888"/>'
            f"{texts}</g>"
        )

    def _lines(self) -> list[str]:
        found = []
        for line, route in zip(self.drawing.lines, self.layout.routes, strict=True):
            if not route:
                found.append(self._named(line.start, line.end))
                continue
            dashed = ' stroke-dasharray="4 3"' if line.is_control else ""
            path = (
                f'<path d="{self._curve(route)}" fill="none" stroke="#666"{dashed} marker-end="url(#tip)"/>'
            )
            found.append(path)
            if line.label:
                x, layer = route[0]
                place = f'x="{x + _MARGIN + 3:.1f}" y="{self._top(layer) + self.height + 11:.1f}"'
                found.append(f'<text {place} font-size="9" fill="#666">{_text(line.label)}</text>')
        return found

    def _named(self, start: int, end: int) -> str:
        """A short line into the box, with the name of the one far above that it comes from."""
        box = self.drawing.boxes[start]
        x = self.layout.x[end] + _MARGIN - self.widths[end] / 2 + 10
        top = self._top(self.layout.layer[end])
        name = _text(shortened(box.name or box.title))
        return (
            f'<path d="M{x:.1f} {top - 8:.1f}V{top:.1f}" stroke="#666" marker-end="url(#tip)"/>'
            f'<text x="{x:.1f}" y="{top - 10:.1f}" font-size="9" fill="#666">{name}</text>'
        )

    def _curve(self, route: Route) -> str:
        """A line from below its first box (above, if it leads upwards), straight through layers between."""
        x, layer = route[0]
        if len(route) == 1 or route[0] == route[-1]:
            return f"M{x + _MARGIN:.1f} {self._top(layer) + self.height:.1f}c30 30 60 -60 8 -{self.height}"
        sides = (0, self.height) if layer <= route[-1][1] else (self.height, 0)
        text = ""
        for (x, layer), (to_x, to_layer) in pairwise(route):
            y, to_y = self._top(layer) + sides[1], self._top(to_layer) + sides[0]
            text += f"{'L' if text else 'M'}{x + _MARGIN:.1f} {y:.1f}"
            text += self._step(x + _MARGIN, y, to_x + _MARGIN, to_y, layer, to_layer)
        return text

    def _step(self, x: float, y: float, to_x: float, to_y: float, layer: int, to_layer: int) -> str:
        if self.column[layer] == self.column[to_layer]:
            half = (y + to_y) / 2
            return f"C{x:.1f} {half:.1f} {to_x:.1f} {half:.1f} {to_x:.1f} {to_y:.1f}"
        gutter = self._gutter(max(self.column[layer], self.column[to_layer]))
        low, high = y + _BETWEEN / 3, to_y - _BETWEEN / 3
        return f"V{low:.1f}H{gutter:.1f}V{high:.1f}H{to_x:.1f}V{to_y:.1f}"

    def _gutter(self, column: int) -> float:
        """The middle between a column and the one at its left."""
        left = min(
            x - wide / 2
            for x, wide, layer in zip(self.layout.x, self.widths, self.layout.layer, strict=True)
            if self.column[layer] == column
        )
        return left + _MARGIN - _COLUMN_GAP / 2


def _width(box: Box) -> float:
    longest = max(len(box.title), len(shortened(box.name)), len(_constants(box)) * _SMALL)
    return max(_NARROWEST, longest * _LETTER + 2 * _PAD)


def _constants(box: Box) -> str:
    """The types of the constants, or how many there are of many."""
    if len(box.constants) > 2:
        return f"{len(box.constants)} constants"
    return shortened(", ".join(text.partition(" ")[2] or text for text in box.constants))


def _centered(text: str, x: float, y: float, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" {style}>{_text(text)}</text>'


def _text(text: str) -> str:
    """Text for XML, which has no form for most control characters."""
    return escape(shown_lines(text))
