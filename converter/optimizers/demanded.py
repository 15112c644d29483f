"""Shapes and sizes with what the users of values ask of them."""

from __future__ import annotations

from collections.abc import Iterable

from ..ir.node import Node, Value
from ..shapes.demands import Demands
from ..shapes.dimensions import ANY, PartialShape, Symbol, number_of


class DemandedShapes:
    """Which shapes and sizes are one, by all that nodes ask of their inputs.

    A node that runs has inputs that fit it, so what it asks is true of all values that it is asked of. That
    is no proof: a node behind a Switch may never run. Demands that contradict each other all count for nothing.
    Source: TensorFlow core/grappler/costs/graph_properties.cc, SymbolicShapeManager.
    """

    def __init__(self, demands: Iterable[tuple[Node, Demands]], same_shape: dict[Value, Value]) -> None:
        self._same_shape = same_shape
        self._shapes: dict[Value, Value] = {}
        self._shape_of: dict[Value, tuple[int, ...]] = {}
        self._sizes: dict[int, int] = {}
        self._size_of: dict[int, int] = {}
        for node, asked in demands:
            if not self._take(node, asked):
                self._same_shape = {}
                for held in (self._shapes, self._shape_of, self._sizes, self._size_of):
                    held.clear()
                break

    def shape(self, value: Value, known: PartialShape) -> PartialShape:
        """The shape of a value of which so much is known, numbers of -2 and less for sizes that are not."""
        found = self._shape_of.get(self._root(value)) if known is None else known
        return None if found is None else tuple(map(self._size, found))

    def _take(self, node: Node, asked: Demands) -> bool:
        """Note what a node asks; whether it contradicts nothing."""
        for place, other in asked.shapes:
            value = node.operands[place]
            if isinstance(other, int):
                self._join(value, node.operands[other])
            else:
                self._shape_of.setdefault(self._root(value), other)
        return all(self._equal(one, other) for one, other in asked.sizes)

    def _join(self, one: Value, other: Value) -> None:
        kept, gone = self._root(one), self._root(other)
        if kept is gone:
            return
        self._shapes[gone] = kept
        shape = self._shape_of.pop(gone, None)
        if shape is not None:
            self._shape_of.setdefault(kept, shape)

    def _root(self, value: Value) -> Value:
        while True:
            before = self._shapes.get(value) or self._same_shape.get(value)
            if before is None:
                return value
            value = before

    def _equal(self, one: int, other: int) -> bool:
        a, b = self._number(one), self._number(other)
        if ANY in (a, b) or a == b:
            return True
        if a >= 0 or b >= 0:
            symbol, size = (b, a) if a >= 0 else (a, b)
            if symbol >= 0:
                return False
            self._size_of[symbol] = size
            return True
        self._sizes[b] = a
        return True

    def _number(self, size: int) -> int:
        number = number_of(size)
        while number in self._sizes:
            number = self._sizes[number]
        return self._size_of.get(number, number)

    def _size(self, size: int) -> int:
        return self._number(size) if isinstance(size, Symbol) else size
