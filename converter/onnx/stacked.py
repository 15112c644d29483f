"""Sequences whose length is known only when the model runs: what loops make, and what branches do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_BOOL, DT_INT32, DT_INT64
from ..building.movement import axis_of
from ..building.tensor import Tensor

if TYPE_CHECKING:
    from .call import Held


class NothingError(ModelError):
    """An item is asked for that a sequence has not. In a branch that is for whoever runs it."""


def place_among(place: int, count: int) -> int:
    """A place among so many items, from the front."""
    if not -count <= place < count:
        raise NothingError(f"position must be in [{-count}, {count}), got {place}")
    return place % count


@dataclass(frozen=True)
class Growing:
    """The sequence that a turn of a loop is given, and the items that the turn has put behind it.

    place says which of the loop's sequences it is. An item that only some turns put has the condition.
    """

    place: int
    items: tuple[Tensor, ...] = ()
    conditions: tuple[Tensor | None, ...] = ()

    def put(self, item: Tensor) -> Growing:
        return Growing(self.place, (*self.items, item), (*self.conditions, None))

    @property
    def is_sure(self) -> bool:
        """Whether each turn puts the same number of items."""
        return not any(self.conditions)

    def packed(self) -> Tensor:
        """The turn's items along a first axis, also those that are not there."""
        if not self.items:
            raise UnsupportedError("a sequence that is carried by a loop: each turn must put items behind it")
        return self.items[0].body.op("Pack", *self.items, axis=0)

    def presence(self) -> Tensor:
        """Which of the items are there."""
        body = self.items[0].body
        always = body.scalar(True, DT_BOOL)
        return body.op("Pack", *(always if each is None else each for each in self.conditions), axis=0)


@dataclass(frozen=True)
class Branched:
    """What one branch gives where the condition is true, what the other gives where it is not.

    Tensors of the branch that has not run are zeros, of its shape where that is known, else of size 0.
    """

    condition: Tensor
    yes: Held
    no: Held


@dataclass(frozen=True)
class Stacked:
    """Items of one shape, along the tensor's first axis."""

    tensor: Tensor

    def item(self, place: Tensor) -> Tensor:
        """One item, counted from the end where the place is negative."""
        body = self.tensor.body
        return body.op("GatherV2", self.tensor, self._from_front(place), body.scalar(0, DT_INT32))

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

    def with_item(self, item: Tensor, place: Tensor | None) -> Stacked:
        """One more item, before a place or at the end; it must have the others' shape."""
        rows = stacked([item]).tensor
        if rows.type != self.tensor.type or rows.sizes[1:] != self.tensor.sizes[1:]:
            raise UnsupportedError(
                f"an item of shape {list(rows.sizes[1:])} in a sequence of a length that is known only when "
                f"the model runs: it must have the shape of the others, {list(self.tensor.sizes[1:])}"
            )
        if place is None:
            return Stacked(_joined(self.tensor, rows))
        at = self._from_front(place)
        return Stacked(_joined(self._rows(None, at), rows, self._rows(at, None)))

    def without_item(self, place: Tensor | None) -> Stacked:
        """All but one item, the last one where no place is told."""
        body = self.tensor.body
        at = self._from_front(body.scalar(-1, DT_INT32) if place is None else place)
        return Stacked(_joined(self._rows(None, at), self._rows(at + 1, None)))

    def _from_front(self, place: Tensor) -> Tensor:
        body = self.tensor.body
        place = body.as_int32(body.op("Reshape", place, body.integers([])))
        if place.data is None or place.data < 0:
            place = (place < 0).choose(place + body.size(self.tensor, 0), place)
        return place

    def _rows(self, first: Tensor | None, end: Tensor | None) -> Tensor:
        """Items from a place, or the first one, to before a place, or to the end."""
        body = self.tensor.body
        bounds = [body.integers([0]) if each is None else body.vector([each]) for each in (first, end)]
        masks = {"begin_mask": int(first is None), "end_mask": int(end is None)}
        return body.op("StridedSlice", self.tensor, *bounds, body.integers([1]), **masks)


def _joined(*rows: Tensor) -> Tensor:
    body = rows[0].body
    return body.op("ConcatV2", *rows, body.scalar(0, DT_INT32))


def tensors_of(held: Held) -> list[Tensor]:
    """The tensors that a value is made of, in the order in which with_tensors takes them."""
    if isinstance(held, Tensor):
        return [held]
    if isinstance(held, Stacked):
        return [held.tensor]
    if isinstance(held, Growing):
        return [*held.items, *(each for each in held.conditions if each is not None)]
    if isinstance(held, Branched):
        return [held.condition, *tensors_of(held.yes), *tensors_of(held.no)]
    return [] if held is None else list(held)


def with_tensors(held: Held, tensors: Iterator[Tensor]) -> Held:
    """The same value, made of other tensors."""
    if isinstance(held, Tensor):
        return next(tensors)
    if isinstance(held, Stacked):
        return Stacked(next(tensors))
    if isinstance(held, Growing):
        items = tuple(next(tensors) for _ in held.items)
        return Growing(
            held.place, items, tuple(None if each is None else next(tensors) for each in held.conditions)
        )
    if isinstance(held, Branched):
        condition = next(tensors)
        yes = with_tensors(held.yes, tensors)
        return Branched(condition, yes, with_tensors(held.no, tensors))
    return None if held is None else [next(tensors) for _ in held]


def stacked(items: Sequence[Tensor]) -> Stacked:
    """Items that are known one by one; UnsupportedError where they are not of one known shape."""
    shapes = {(item.type, item.shape) for item in items}
    if len(shapes) != 1 or not items[0].is_known:
        raise UnsupportedError(
            "a sequence that is read at a computed place or carried by a loop: "
            "its items must have one known shape"
        )
    return Stacked(items[0].body.op("Pack", *items, axis=0))


def carried_on(first: Held, turns: Tensor, presence: Tensor | None) -> Stacked:
    """The sequence after a loop: what it began with, then what turns put behind it, [turns, items, ...].

    presence is [turns, items]: which of the items are there; None where all are.
    """
    sizes = turns.sizes[2:]
    if -1 in sizes:
        raise UnsupportedError("a sequence that is carried by a loop: its items must have one known shape")
    body = turns.body
    rows = body.reshaped(turns, [-1, *sizes])
    if presence is not None:
        places = body.op("Where", body.reshaped(presence, [-1]))
        rows = body.op("GatherNd", rows, body.as_int32(places))
    if isinstance(first, list) and not first:
        return Stacked(rows)
    before = first if isinstance(first, Stacked) else stacked(first) if isinstance(first, list) else None
    if before is None or before.tensor.sizes[1:] != sizes or before.tensor.type != rows.type:
        raise ModelError("a sequence must have items of one type and shape before and after a loop")
    return Stacked(_joined(before.tensor, rows))
