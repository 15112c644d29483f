"""A graph as boxes and lines between them: what its pictures show."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..converter.ir.attribute_text import attribute_text
from ..converter.ir.attributes import DenseAttr, TensorProtoAttr
from ..converter.ir.module import Function, Graph
from ..converter.ir.node import RETURN, Node, Value
from ..converter.transforms.purity import CONTROL_FLOW, is_stateless
from ..schema.shown import shown
from .graph_constants import folded_values, source_text

_LONGEST_NAME = 32
_LONGEST_DETAIL = 100


@dataclass(frozen=True)
class Box:
    """A node, an argument, or the end of a function."""

    title: str
    name: str
    # One of input, output, constant, state, control, call, op.
    kind: str
    details: tuple[str, ...] = ()
    # Names and types of constants and variables that it uses and that have no box.
    constants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """From box to box, by their places in the drawing."""

    start: int
    end: int
    is_control: bool
    label: str = ""


@dataclass
class Drawing:
    """The boxes in the graph's order, and the lines, each once."""

    boxes: list[Box] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)


def drawing_of(body: Graph | Function, fold: bool = False) -> Drawing:
    """The drawing of a graph or function; nodes of regions are part of the node around them.

    With fold, constants and variables that are only read are part of the boxes that use them.
    """
    drawing = Drawing()
    folded = folded_values(body) if fold else {}
    places: dict[object, int] = {}
    if isinstance(body, Function):
        for value in body.arguments:
            if value in folded:
                continue
            places[value] = len(drawing.boxes)
            places[body.control_of(value)] = len(drawing.boxes)
            drawing.boxes.append(
                Box("argument", shown(body.argument_name(value)), "input", (shown(value.type),))
            )
    for node in body.body:
        if len(node.results) == 1 and node.results[0] in folded:
            continue
        places[node] = len(drawing.boxes)
        sources = dict.fromkeys(folded[value] for value in used_values(node) if value in folded)
        drawing.boxes.append(_box(node, tuple(source_text(source, body) for source in sources)))
    drawing.lines = _lines(body, places)
    return drawing


def _lines(body: Graph | Function, places: dict[object, int]) -> list[Line]:
    lines: dict[tuple[int, int, bool], str] = {}
    for node in body.body:
        if node not in places:
            continue
        for value in used_values(node):
            start = places.get(value.owner if isinstance(value.owner, Node) else value)
            if start is not None:
                label = f":{value.index}" if value.index and not value.is_control else ""
                lines.setdefault((start, places[node], value.is_control), label)
    return [Line(*key, label) for key, label in lines.items()]


def used_values(node: Node) -> list[Value]:
    """The operands and control tokens of a node, with those of its regions that come from outside."""
    found = [*node.operands, *node.controls]
    for region in node.regions:
        for inner in region.walk():
            found += [*inner.operands, *inner.controls]
    return [value for value in found if value.owner not in node.regions]


def _box(node: Node, constants: tuple[str, ...]) -> Box:
    details = []
    for name, attribute in sorted(node.attributes.items()):
        if isinstance(attribute, DenseAttr | TensorProtoAttr):
            text = str(attribute.type)
        else:
            text = attribute_text(attribute)
        details.append(shortened(f"{name} = {text}", _LONGEST_DETAIL))
    details += [f"-> {value.type}" for value in node.results[:8]]
    return Box(shown(node.op), shown(node.name), _kind(node), tuple(map(shown, details)), constants)


def _kind(node: Node) -> str:
    if node.op.startswith("Placeholder") or node.op == "_Arg":
        return "input"
    if node.op in (RETURN, "_Retval"):
        return "output"
    if node.op == "Const":
        return "constant"
    if node.op in CONTROL_FLOW or node.op == "NoOp":
        return "control"
    if node.regions or any(name in node.attributes for name in ("f", "body", "then_branch", "branches")):
        return "call"
    return "op" if is_stateless(node.op) else "state"


def shortened(text: str, longest: int = _LONGEST_NAME) -> str:
    """The text; of a long one the start and the end, which tell names apart."""
    if len(text) <= longest:
        return text
    half = (longest - 3) // 2
    return f"{text[: longest - 3 - half]}...{text[-half:]}"
