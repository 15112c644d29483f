"""Coordinates of slices that gather and scatter name: where each begins, and what it covers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_INT32
from ..building.body import Body
from ..building.tensor import Tensor
from .program import UNKNOWN
from .step import Step

Size = int | Tensor


@dataclass(frozen=True)
class Places:
    """How slices lie in an operand.

    indices are [batch ..., n] as int32, one number for each axis of index_map. batching are axes of the
    operand that go along with axes of the indices (indices_batching). dropped are axes that slices do not
    have, kept the others; sizes are the slices' for all axes,
    UNKNOWN for those of which they have all, a tensor for others that are known when the model runs.
    """

    operand: Tensor
    indices: Tensor
    index_map: Sequence[int]
    batching: Sequence[int]
    indices_batching: Sequence[int]
    dropped: Sequence[int]
    sizes: Sequence[Size]

    @property
    def kept(self) -> list[int]:
        gone = (*self.dropped, *self.batching)
        return [axis for axis in range(self.operand.rank) if axis not in gone]

    @property
    def partial(self) -> list[int]:
        """Axes of the slices that have a part of the operand's."""
        return [axis for axis in self.kept if not self.is_whole(axis)]

    @property
    def whole(self) -> list[int]:
        """Axes of the slices that have all of the operand's."""
        return [axis for axis in self.kept if self.is_whole(axis)]

    def is_whole(self, axis: int) -> bool:
        return isinstance(self.sizes[axis], int) and self.operand.sizes[axis] == self.sizes[axis]

    @property
    def named(self) -> list[int]:
        """Axes of the operand that coordinates name: all but those that slices have whole."""
        return [*self.batching, *sorted(self.dropped), *self.partial]

    @property
    def batch_rank(self) -> int:
        return self.indices.rank - 1


def last_axis_indices(step: Step, place: int, axis: int) -> Tensor:
    """The indices as int32 with their vectors along the last axis."""
    x = step.input(place)
    rank = x.rank
    if not 0 <= axis <= rank:
        raise ModelError(f"index_vector_dim must be at most {rank}, got {axis}")
    if x.type != DT_INT32:
        x = step.body.cast(x, DT_INT32)
    if axis == rank:
        return step.body.reshaped(x, [*step.body.sizes_of(x), 1])
    return step.body.transposed(x, [*(each for each in range(rank) if each != axis), axis])


def checked(places: Places) -> Places:
    """The same; ModelError where the parts do not fit each other."""
    rank, count = places.operand.rank, places.indices.sizes[-1]
    if count not in (len(places.index_map), UNKNOWN) or len(places.sizes) != rank:
        raise ModelError(f"{count} indices must name axes {list(places.index_map)} of {rank}")
    if len(places.batching) != len(places.indices_batching):
        raise ModelError("as many axes of the operand as of the indices must be batches")
    if any(axis >= places.batch_rank for axis in places.indices_batching):
        raise ModelError(f"batches of the indices must be among {places.batch_rank} axes")
    if set(places.batching) & (set(places.dropped) | set(places.index_map)):
        raise ModelError("an axis must be a batch, dropped or kept")
    for axis in (*places.dropped, *places.batching):
        if places.sizes[axis] != 1:
            raise ModelError(f"axis {axis} is dropped, so its slices must have size 1")
    for axis, size in enumerate(places.sizes):
        if isinstance(size, Tensor):
            continue
        if size < 0 and not places.is_whole(axis):
            raise UnsupportedError("the sizes of slices must be known")
        if 0 <= places.operand.sizes[axis] < size:
            raise ModelError(f"slices must fit the operand, got {size} of {places.operand.sizes[axis]}")
    return places


def starts(places: Places) -> dict[int, Tensor]:
    """For each axis of the operand that indices name, where slices begin: [batch ...], as they are given."""
    body = places.operand.body
    if len(places.index_map) == 1:
        sizes = body.sizes_of(places.indices)[:-1]
        return {places.index_map[0]: body.reshaped(places.indices, sizes)}
    rank = places.indices.rank
    found = {}
    for number, axis in enumerate(places.index_map):
        at = body.scalar(number, DT_INT32)
        found[axis] = body.op("GatherV2", places.indices, at, body.scalar(rank - 1, DT_INT32))
    return found


def largest_start(places: Places, axis: int) -> Size:
    """The last place at which a slice fits."""
    return places.operand.body.sizes_of(places.operand)[axis] - places.sizes[axis]


def coordinates(places: Places, begins: dict[int, Tensor]) -> list[Tensor]:
    """For each named axis its numbers, of a shape that fits [batch ..., partial ...]."""
    body, batch, partial = places.operand.body, places.batch_rank, places.partial
    rank = batch + len(partial)
    found = []
    for axis in places.named:
        if axis in places.batching:
            at = places.indices_batching[list(places.batching).index(axis)]
            found.append(_counted(body, body.sizes_of(places.indices)[at], at, rank))
            continue
        start = begins.get(axis)
        number = body.scalar(0, DT_INT32) if start is None else start
        if start is not None and partial:
            number = body.reshaped(start, [*body.sizes_of(start), *[1] * len(partial)])
        if axis in partial:
            number = number + _counted(body, places.sizes[axis], batch + partial.index(axis), rank)
        found.append(number)
    return found


def _counted(body: Body, size: Size, axis: int, rank: int) -> Tensor:
    """0, 1 ... along one axis of so many."""
    behind = rank - 1 - axis
    if isinstance(size, int):
        return body.constant(np.arange(size, dtype=np.int32).reshape(-1, *[1] * behind))
    line = body.op("Range", body.scalar(0, DT_INT32), size, body.scalar(1, DT_INT32))
    return body.op("Reshape", line, body.integers([-1, *[1] * behind]))


def grid_sizes(places: Places) -> list[Size]:
    """The sizes of [batch ..., partial ...]."""
    body = places.operand.body
    return [*body.sizes_of(places.indices)[:-1], *(places.sizes[axis] for axis in places.partial)]


def linear(places: Places, numbers: Sequence[Tensor]) -> tuple[Tensor, Size]:
    """Coordinates as places among all rows, [batch ..., partial ...], and how many rows there are."""
    body = places.operand.body
    all_sizes = body.sizes_of(places.operand)
    count: Size = 1
    total: Tensor | None = None
    for axis, number in reversed(list(zip(places.named, numbers, strict=True))):
        part = number if isinstance(count, int) and count == 1 else number * count
        total = part if total is None else total + part
        count = count * all_sizes[axis]
    sizes = grid_sizes(places)
    total = body.scalar(0, DT_INT32) if total is None else total
    if tuple(size for size in sizes if isinstance(size, int)) != total.shape:
        total = body.op("BroadcastTo", total, body.vector(sizes))
    return total, count
