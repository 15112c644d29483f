"""Call: an ONNX node as the rule of its operator sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.onnx import AttributeProto, GraphProto, NodeProto
from ..building.body import Body
from ..building.movement import axis_of
from ..building.tensor import Tensor
from ..ir.attributes import Attribute
from .stacked import Branched, Growing, Stacked

if TYPE_CHECKING:
    from .graph_import import Importer

# A list of tensors (ONNX's sequences), which a graph has none of: it is known how many there are.
Sequences = list[Tensor]
# Those of a length that is not known are one tensor, what a turn of a loop makes of one, or two branches'.
Held = Tensor | Sequences | Stacked | Growing | Branched | None
Result = Tensor | Sequence[Held]
Rule = Callable[["Call"], Result]


class Call:
    """A node with its operands. Each method raises ModelError when the node has no such part.

    opset is the version of the operator's domain that the model was written for; wanted are the names of the
    outputs, "" for one that nothing uses.
    """

    def __init__(
        self,
        importer: Importer,
        node: NodeProto,
        operands: Sequence[Held],
        opset: int,
        attributes: Mapping[str, AttributeProto],
    ) -> None:
        self.importer = importer
        self.body: Body = importer.body
        self.node = node
        self.operands = operands
        self.opset = opset
        self.attributes = attributes
        self.wanted = list(node.output)

    @property
    def op(self) -> str:
        return self.node.op_type

    def input(self, place: int) -> Tensor:
        """An operand that must be there, and a tensor."""
        found = self.operands[place] if place < len(self.operands) else None
        if found is None:
            raise ModelError(f"input {place} must be there, got {len(self.operands)} inputs")
        _check_length(found)
        if not isinstance(found, Tensor):
            raise ModelError(f"input {place} must be a tensor, got a sequence")
        return found

    def optional(self, place: int) -> Tensor | None:
        """An operand, None where it was left out."""
        return self.input(place) if place < len(self.operands) and self.operands[place] is not None else None

    def inputs(self) -> list[Tensor]:
        """All operands, which must all be there."""
        return [self.input(place) for place in range(len(self.operands))]

    def sequence(self, place: int) -> Sequences:
        """An operand that must be a sequence; UnsupportedError where its length is not known."""
        found = self.operands[place] if place < len(self.operands) else None
        _check_length(found)
        if not isinstance(found, list):
            raise ModelError(f"input {place} must be a sequence")
        return found

    def constant(self, place: int, what: str) -> np.ndarray:
        """The elements of an operand; UnsupportedError where they are not constant."""
        data = self.input(place).data
        if data is None:
            raise UnsupportedError(f"{what} must be constant")
        return data

    def constants(self, place: int, what: str) -> list[int]:
        """The numbers of an operand that must be constant."""
        return [int(number) for number in np.ravel(self.constant(place, what))]

    def wants(self, place: int) -> bool:
        """Whether the node has such an output."""
        return place < len(self.wanted) and bool(self.wanted[place])

    def has(self, name: str) -> bool:
        return name in self.attributes

    def integer(self, name: str, default: int | None = None) -> int:
        found = self._found(name, AttributeProto.INT, default)
        return int(found.i) if isinstance(found, AttributeProto) else int(found)

    def flag(self, name: str, default: bool = False) -> bool:
        return bool(self.integer(name, default))

    def real(self, name: str, default: float | None = None) -> float:
        found = self._found(name, AttributeProto.FLOAT, default)
        return float(found.f) if isinstance(found, AttributeProto) else float(found)

    def text(self, name: str, default: str | None = None) -> str:
        found = self._found(name, AttributeProto.STRING, default)
        return found.s.decode(errors="replace") if isinstance(found, AttributeProto) else str(found)

    def integers(self, name: str, default: Sequence[int] | None = None) -> list[int]:
        found = self._found(name, AttributeProto.INTS, default)
        return list(found.ints) if isinstance(found, AttributeProto) else list(found)

    def reals(self, name: str, default: Sequence[float] | None = None) -> list[float]:
        found = self._found(name, AttributeProto.FLOATS, default)
        return list(found.floats) if isinstance(found, AttributeProto) else list(found)

    def texts(self, name: str, default: Sequence[bytes] | None = None) -> list[bytes]:
        found = self._found(name, AttributeProto.STRINGS, default)
        return list(found.strings) if isinstance(found, AttributeProto) else list(found)

    def array(self, name: str) -> np.ndarray:
        """An attribute that is a tensor."""
        found = self._found(name, AttributeProto.TENSOR, None)
        assert isinstance(found, AttributeProto)
        return self.importer.data.array(found.t)

    def graph(self, name: str) -> GraphProto:
        found = self._found(name, AttributeProto.GRAPH, None)
        assert isinstance(found, AttributeProto)
        return found.g

    def _found(self, name: str, kind: int, default: object) -> AttributeProto:
        """The attribute, or the default."""
        held = self.attributes.get(name)
        if held is None:
            if default is None:
                raise ModelError(f"attribute {name!r} is missing")
            return default  # type: ignore[return-value]
        if held.type not in (kind, AttributeProto.UNDEFINED):
            wanted = AttributeProto.AttributeType.Name(kind)
            raise ModelError(f"attribute {name!r} must be of type {wanted}, got type {held.type}")
        return held

    def make(self, op: str, *inputs: Tensor, **attributes: Attribute | str | Sequence[int]) -> Tensor:
        """The first result of a TensorFlow op. See Body.ops."""
        return self.body.op(op, *inputs, **attributes)

    def axis(self, name: str, rank: int, default: int | None = None) -> int:
        """An attribute that is an axis, counted from the front."""
        return axis_of(self.integer(name, default), rank)


def _check_length(held: Held) -> None:
    if isinstance(held, Stacked | Growing):
        raise UnsupportedError("a sequence that a loop makes, whose length is known only when the model runs")
