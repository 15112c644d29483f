"""A program that is being read: the module it becomes, its inputs and outputs, and what has no form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...lite.errors import UnsupportedError
from ...schema.shown import shown
from ..ir.attributes import Attributes, ShapeAttr
from ..ir.module import Function, Module
from ..ir.node import Node
from ..ir.types import TensorType, element_type
from ..shapes.dimensions import PartialShape
from .body import Body, Names, plain_shape
from .tensor import Tensor

# How many names a line of an error lists.
_LISTED = 3


@dataclass(frozen=True)
class Refusal:
    """What has no form: its name or place, what it is (an op, a class of layers), and why."""

    name: str
    kind: str
    reason: str


class FailedError(Exception):
    """A value is missing as what gives it was refused."""


class ModuleBuilder:
    """What all graphs and functions of a program share: the module, names in it, and what was refused."""

    def __init__(self, names: Names | None = None) -> None:
        self.module = Module()
        self.names = Names() if names is None else names
        self.refusals: list[Refusal] = []

    def new_function(self, wanted: str) -> Function:
        """A function of the module, under the name or one like it."""
        function = Function(self.names.new(wanted))
        self.module.ops.append(function)
        return function


def placeholder(body: Body, name: str, type: int, shape: PartialShape) -> Tensor:
    """An input of the program, under the name or one like it. type is TensorFlow's number."""
    dtype, sizes = element_type(type), plain_shape(shape)
    attributes: Attributes = {"dtype": dtype, "shape": ShapeAttr(sizes)}
    node = Node("Placeholder", body.names.new(name), [TensorType(dtype, sizes)], attributes)
    body.block.append(node)
    return Tensor(body, type, shape, node.results[0], name=node.name)


def refusal_error(what: str, refusals: Sequence[Refusal]) -> UnsupportedError:
    """One error for all refusals, by kind and reason; what names them ("ONNX operators")."""
    groups: dict[tuple[str, str], list[str]] = {}
    for refusal in refusals:
        groups.setdefault((refusal.kind, refusal.reason), []).append(refusal.name)
    lines = []
    for (kind, reason), names in sorted(groups.items()):
        places = list(dict.fromkeys(names))
        more = f" and {len(places) - _LISTED} more" if len(places) > _LISTED else ""
        count = f"{len(names)} times in " if len(names) > len(places) else ""
        lines.append(f"  {shown(kind)} ({count}{', '.join(map(shown, places[:_LISTED]))}{more}): {reason}")
    return UnsupportedError(f"{what} that cannot be converted:\n" + "\n".join(lines))


def named_output(tensor: Tensor, name: str) -> str:
    """The text by which the value is found; its node is called like the output where it can be."""
    value = tensor.value
    assert isinstance(value.owner, Node)
    if value.owner.op not in ("Placeholder", "Const") and len(value.owner.results) == 1:
        value.owner.name = tensor.body.names.new(name)
    return value.owner.name if value.index == 0 else f"{value.owner.name}:{value.index}"
