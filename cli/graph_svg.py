"""A picture of a graph as SVG, without any other program."""

from __future__ import annotations

from itertools import pairwise
from xml.sax.saxutils import escape

from ..converter.ir.module import Function, Graph
from ..schema.shown import shown_lines
from .graph_boxes import Box, Drawing, drawing_of, shortened
from .graph_dot import COLORS
from .graph_layout import layout

# In pixels. The letters' width is that of the widest common ones.
_LETTER, _LINE, _PAD = 6.6, 14, 8
_GAP, _BETWEEN, _MARGIN = 18, 46, 20
_HEIGHT = 2 * _LINE + _PAD
_NARROWEST = 60


def svg(body: Graph | Function) -> str:
    """The graph in layers from its inputs down; control edges are dashed, details are tooltips.

    UnsupportedError when the graph is too large for a picture.
    """
    drawing = drawing_of(body)
    widths = [_width(box) for box in drawing.boxes]
    lines = [(line.start, line.end) for line in drawing.lines]
    places = layout(widths, lines, [box.kind == "constant" for box in drawing.boxes], _GAP)
    width = places.width + 2 * _MARGIN
    height = max(places.layers, 1) * (_HEIGHT + _BETWEEN) - _BETWEEN + 2 * _MARGIN
    title = body.name if isinstance(body, Function) else "graph"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="Helvetica, Arial, sans-serif" font-size="11">',
        f"<title>{_text(title)}</title>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#666"/></marker></defs>',
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>',
        *_lines(drawing, places.routes),
    ]
    for box, x, layer, wide in zip(drawing.boxes, places.x, places.layer, widths, strict=True):
        parts.append(_box(box, x + _MARGIN, _top(layer), wide))
    return "\n".join([*parts, "</svg>"])


def _width(box: Box) -> float:
    longest = max(len(box.title), len(shortened(box.name)))
    return max(_NARROWEST, longest * _LETTER + 2 * _PAD)


def _top(layer: int) -> float:
    return _MARGIN + layer * (_HEIGHT + _BETWEEN)


def _box(box: Box, x: float, top: float, width: float) -> str:
    tooltip = _text("\n".join((f"{box.title} {box.name}".strip(), *box.details)))
    first = top + (_LINE + 1 if box.name else _HEIGHT / 2 + 4)
    texts = _centered(box.title, x, first, 'font-weight="bold"')
    if box.name:
        texts += _centered(shortened(box.name), x, top + 2 * _LINE + 1, 'fill="#444"')
    return (
        f'<g><title>{tooltip}</title><rect x="{x - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}" '
        f'height="{_HEIGHT}" rx="4" fill="{COLORS[box.kind]}" stroke="#888"/>{texts}</g>'
    )


def _centered(text: str, x: float, y: float, style: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle" {style}>{_text(text)}</text>'


def _lines(drawing: Drawing, routes: list[list[tuple[float, int]]]) -> list[str]:
    found = []
    for line, route in zip(drawing.lines, routes, strict=True):
        dashed = ' stroke-dasharray="4 3"' if line.is_control else ""
        found.append(f'<path d="{_curve(route)}" fill="none" stroke="#666"{dashed} marker-end="url(#tip)"/>')
        if line.label:
            x, layer = route[0]
            found.append(
                f'<text x="{x + _MARGIN + 3:.1f}" y="{_top(layer) + _HEIGHT + 11:.1f}" font-size="9" '
                f'fill="#666">{_text(line.label)}</text>'
            )
    return found


def _curve(route: list[tuple[float, int]]) -> str:
    """A line from below its first box (above, if it leads upwards), straight through each layer between."""
    x, layer = route[0]
    if len(route) == 1 or route[0] == route[-1]:
        return f"M{x + _MARGIN:.1f} {_top(layer) + _HEIGHT:.1f}c30 30 60 -60 8 -{_HEIGHT}"
    sides = (0, _HEIGHT) if layer <= route[-1][1] else (_HEIGHT, 0)
    text = ""
    for (x, layer), (to_x, to_layer) in pairwise(route):
        y, to_y = _top(layer) + sides[1], _top(to_layer) + sides[0]
        half = (y + to_y) / 2
        text += f"{'L' if text else 'M'}{x + _MARGIN:.1f} {y:.1f}"
        ends = f"{to_x + _MARGIN:.1f} {half:.1f} {to_x + _MARGIN:.1f} {to_y:.1f}"
        text += f"C{x + _MARGIN:.1f} {half:.1f} {ends}"
    return text


def _text(text: str) -> str:
    """Text for XML, which has no form for most control characters."""
    return escape(shown_lines(text))
