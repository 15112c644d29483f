"""Sequences of a length that is known only when the model runs: what a loop puts behind each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32, DT_INT64
from ..building.movement import axis_of
from ..building.tensor import Tensor

if TYPE_CHECKING:
    from .call import Held


@dataclass(frozen=True)
class Growing:
    """The sequence that a turn of a loop is given, and the items that the turn has put behind it."""

    items: tuple[Tensor, ...] = ()

    def packed(self) -> Tensor:
        """The turn's items along a first axis."""
        if not self.items:
            raise UnsupportedError("a sequence that is carried by a loop: each turn must put items behind it")
        return self.items[0].body.op("Pack", *self.items, axis=0)


@dataclass(frozen=True)
class Stacked:
    """Items of one shape, along the tensor's first axis."""

    tensor: Tensor

    def item(self, place: Tensor) -> Tensor:
        """One item, counted from the end where the place is negative."""
        body = self.tensor.body
        place = body.as_int32(body.op("Reshape", place, body.integers([])))
        if place.data is None or place.data < 0:
            place = (place < 0).choose(place + body.size(self.tensor, 0), place)
        return body.op("GatherV2", self.tensor, place, body.scalar(0, DT_INT32))

    def length(self) -> Tensor:
        return self.tensor.body.cast(self.tensor.body.size(self.tensor, 0), DT_INT64)

    def joined(self, axis: int, has_own_axis: bool) -> Tensor:
        """The items along an axis of their own, or along one that they have."""
        x, body, rank = self.tensor, self.tensor.body, self.tensor.rank
        axis = axis_of(axis, rank if has_own_axis else rank - 1)
        order = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
        moved = body.transposed(x, order)
        if has_own_axis:
            return moved
        sizes = body.sizes_of(moved)
        return body.reshaped(moved, [*sizes[:axis], -1, *sizes[axis + 2 :]])


def stacked(items: list[Tensor]) -> Stacked:
    """Items that are known one by one; UnsupportedError where they are not of one known shape."""
    shapes = {(item.type, item.shape) for item in items}
    if len(shapes) != 1 or not items[0].is_known:
        raise UnsupportedError(
            "a sequence that is read at a computed place or carried by a loop: "
            "its items must have one known shape"
        )
    return Stacked(items[0].body.op("Pack", *items, axis=0))


def carried_on(first: Held, turns: Tensor) -> Stacked:
    """The sequence after a loop: what it began with, then what turns put behind it, [turns, items, ...]."""
    sizes = turns.sizes[2:]
    if -1 in sizes:
        raise UnsupportedError("a sequence that is carried by a loop: its items must have one known shape")
    body = turns.body
    rows = body.reshaped(turns, [-1, *sizes])
    if isinstance(first, list) and not first:
        return Stacked(rows)
    before = first if isinstance(first, Stacked) else stacked(first) if isinstance(first, list) else None
    if before is None or before.tensor.sizes[1:] != sizes or before.tensor.type != rows.type:
        raise ModelError("a sequence must have items of one type and shape before and after a loop")
    return Stacked(body.op("ConcatV2", before.tensor, rows, body.scalar(0, DT_INT32)))
