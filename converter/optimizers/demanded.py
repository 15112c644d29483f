"""Shapes and sizes with what the users of values ask of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

from ..ir.node import Node, Value
from ..ir.types import TensorType
from ..shapes.context import Demands
from ..shapes.dimensions import ANY, PartialShape, number_of


class DemandedShapes:
    """Which shapes and sizes are one, by all that nodes ask of their inputs.

    A node that runs has inputs that fit it, so what it asks is true of what it is asked of. That is no
    proof: a node behind a Switch may never run. Demands that contradict each other all count for nothing.
    Sizes that are not known are numbered from -2 down in the order of nodes, as TensorFlow does.
    Source: TensorFlow core/grappler/costs/graph_properties.cc, SymbolicShapeManager.
    """

    def __init__(
        self, nodes: Iterable[Node], demands: Mapping[Node, Demands], same_shape: Mapping[Value, Value]
    ) -> None:
        """same_shape has for values of unknown rank the first one that has the same shape."""
        ordered = list(nodes)
        self._same_shape = same_shape
        self._joined: dict[Value, Value] = {}
        self._shape_of: dict[Value, tuple[int, ...]] = {}
        self._sizes = Sizes()
        if not all(self._take(node, demands[node]) for node in ordered if node in demands):
            self._joined, self._shape_of, self._sizes = {}, {}, Sizes()
        for node in ordered:
            for value in (*node.operands, *node.results):
                if isinstance(value.type, TensorType):
                    self.shape(value, value.type.shape)

    def shape(self, value: Value, known: PartialShape) -> PartialShape:
        """The shape of a value of which so much is known, with numbers of -2 and less for unknown sizes."""
        found = self._shape_of.get(self._root(value)) if known is None else known
        return None if found is None else tuple(map(self._sizes.get, found))

    def _take(self, node: Node, asked: Demands) -> bool:
        """Note what a node asks; whether it contradicts nothing."""
        for place, other in asked.shapes:
            value = node.operands[place]
            if isinstance(other, int):
                self._join(value, node.operands[other])
            else:
                self._shape_of.setdefault(self._root(value), other)
        return all(self._sizes.join(one, other) for one, other in asked.sizes)

    def _join(self, one: Value, other: Value) -> None:
        kept, gone = self._root(one), self._root(other)
        if kept is gone:
            return
        self._joined[gone] = kept
        shape = self._shape_of.pop(gone, None)
        if shape is not None:
            self._shape_of.setdefault(kept, shape)

    def _root(self, value: Value) -> Value:
        value = self._same_shape.get(value, value)
        while value in self._joined:
            value = self._joined[value]
        return value


class Sizes:
    """Sizes by number, those that are equal under one."""

    def __init__(self) -> None:
        self._joined: dict[int, int] = {}
        self._depth: dict[int, int] = {}
        self._found: dict[int, int] = {}
        self._numbers = count(2)

    def get(self, size: int) -> int:
        """The size, or the number of all that are equal to it; a number that is new for one not seen yet."""
        root = self._root(number_of(size))
        if root >= ANY:
            return root
        if root not in self._found:
            self._found[root] = -next(self._numbers)
        return self._found[root]

    def join(self, one: int, other: int) -> bool:
        """Take two sizes for equal; whether they can be."""
        found, held = self.get(one), self.get(other)
        if ANY in (found, held) or found == held:
            return True
        if found >= 0 and held >= 0:
            return False
        kept, gone = self._root(number_of(one)), self._root(number_of(other))
        if found >= 0 or held >= 0:
            self._found[gone if found >= 0 else kept] = max(found, held)
            return True
        if self._depth.get(kept, 0) < self._depth.get(gone, 0):
            kept, gone = gone, kept
        self._joined[gone] = kept
        if self._depth.get(kept, 0) == self._depth.get(gone, 0):
            self._depth[kept] = self._depth.get(kept, 0) + 1
        return True

    def _root(self, number: int) -> int:
        while number in self._joined:
            number = self._joined[number]
        return number
