"""A picture of a graph as text for Graphviz."""

from __future__ import annotations

from ..converter.ir.module import Function, Graph
from ..schema.shown import shown_lines
from .graph_boxes import drawing_of, shortened

COLORS = {
    "input": "#d9f2d9",
    "output": "#f2e6d9",
    "constant": "#eeeeee",
    "state": "#ffe0cc",
    "control": "#f9f3c7",
    "call": "#e6d9f2",
    "op": "#d9e8f7",
}


def dot(body: Graph | Function) -> str:
    """The graph as a digraph; control edges are dashed."""
    drawing = drawing_of(body)
    name = body.name if isinstance(body, Function) else "graph"
    lines = [
        f"digraph {_quoted(name)} {{",
        "  node [shape=box, style=filled, fontname=Helvetica, fontsize=10];",
    ]
    for i, box in enumerate(drawing.boxes):
        label = (
            "\\n".join(map(_escaped, (box.title, shortened(box.name)))) if box.name else _escaped(box.title)
        )
        tooltip = _quoted("\n".join((box.name, *box.details)))
        lines.append(f'  n{i} [label="{label}", fillcolor="{COLORS[box.kind]}", tooltip={tooltip}];')
    for line in drawing.lines:
        options = [f"label={_quoted(line.label)}"] if line.label else []
        options += ["style=dashed"] if line.is_control else []
        shown = f" [{', '.join(options)}]" if options else ""
        lines.append(f"  n{line.start} -> n{line.end}{shown};")
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return shown_lines(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
