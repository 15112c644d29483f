"""ArenaSearch: memory plans that fit a given arena, by searches in native code, for those who ship.

Allocations are placed from the bottom up, each on the highest of what lies below it (a canonical form that
every plan can be brought into), the lowest first; kernels/compiled/arena_search.py says what is cut off.
Which comes first of those that can lie as low decides how long a search takes: many short ones, each in
another order, find what one long search does not. Half of these place boxes of allocations (arena_boxes.py).
Source: M. D. Moffitt, MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning,
ASPLOS 2023.
"""

from __future__ import annotations

import ctypes
import itertools
from random import Random
from typing import TYPE_CHECKING

import numpy as np

from ..schema.named_tuple import NamedTuple
from .arena_boxes import Box, boxed
from .arena_planner import ALIGNMENT, lower_bound, plan_offsets
from .native_blocks import ARENA_SEARCH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .kernel_call import KernelLibrary
    from .lifetimes import Lifetime

# Placements that a whole search may try, some two to thirteen microseconds each. A count, not a clock: the
# same lifetimes give the same plan on every machine.
SEARCH_STEPS = 700_000
_FOUND, _NONE, _NOT_ENDED = 0, 1, 2
_TRIED = 2  # of `used`: how many placements were tried
_FRAME = 15  # words of a frame of the search
# Of a round: many searches in orders of chance, a hasty one in each order, and a complete one; rounds double
# the steps of all but those of chance.
_FIRST_STEPS = 2_000
_HASTY_STEPS = 8_000
_CHANCES, _CHANCE_STEPS = 64, 1_000
_COMPLETE_STEPS = 32_000
_CHANCE = 0.6  # by which an allocation may seem larger than it is


class _Order(NamedTuple):
    """Which allocation comes first of those that can lie as low: the largest by these, in turn.

    chance is a factor of each allocation for the first of the fields.
    """

    fields: tuple[str, ...]
    chance: np.ndarray | None = None


# By the fullest position that it is live at, its life's length, and its area (bytes times length).
_ORDERS = (
    _Order(("total", "length", "area")),
    _Order(("total", "area", "length")),
    _Order(("length", "area", "total")),
)


class _Attempt(NamedTuple):
    """A search of these boxes, hasty where there may be plans without any of them."""

    boxes: Sequence[Box]
    order: _Order
    steps: int
    is_hasty: bool = False


def _attempts(single: Sequence[Box]) -> Iterator[_Attempt]:
    """Searches in the order in which they are worth while, without end; the same for the same allocations."""
    random = Random(len(single))
    yield _Attempt(single, _ORDERS[0], _FIRST_STEPS)
    for turn in itertools.count():
        for n in range(_CHANCES):
            boxes = boxed(single, random) if n // 2 % 2 == 0 else single
            chance = np.array([1 + _CHANCE * random.random() for _ in boxes])
            yield _Attempt(boxes, _Order(("area", "length")[n % 2 :], chance), _CHANCE_STEPS, True)
        for order in _ORDERS:
            yield _Attempt(single, order, _HASTY_STEPS << turn, True)
        yield _Attempt(single, _ORDERS[turn % len(_ORDERS)], _COMPLETE_STEPS << turn)


def best_offsets(
    lifetimes: Sequence[Lifetime], library: KernelLibrary, steps: int = SEARCH_STEPS
) -> tuple[list[int], int]:
    """Offsets and the arena's size, as plan_offsets gives them; often the lower bound, never worse."""
    offsets, size = plan_offsets(lifetimes)
    bound = lower_bound(lifetimes)
    found = offsets_within(lifetimes, bound, library, steps) if size > bound else None
    if found is not None:
        return found, bound
    while size - bound > ALIGNMENT:
        middle = bound + (size - bound) // 2 // ALIGNMENT * ALIGNMENT
        found = offsets_within(lifetimes, middle, library, steps // 16)
        if found is None:
            bound = middle
        else:
            offsets = found
            size = _end(lifetimes, found)
    return offsets, size


def offsets_within(
    lifetimes: Sequence[Lifetime], capacity: int, library: KernelLibrary, steps: int = SEARCH_STEPS
) -> list[int] | None:
    """Offsets in an arena of capacity bytes; None where there are none, or that many steps find none."""
    offsets = [0] * len(lifetimes)
    for part in _parts(lifetimes):
        single = [_alone(lifetimes, i) for i in part]
        for attempt in _attempts(single):
            problem = _Problem(attempt.boxes)
            status = problem.search(attempt, capacity, steps, library)
            steps -= problem.tried
            if status != _NOT_ENDED or steps <= 0:
                break
        if status != _FOUND:
            return None
        for box, offset in zip(attempt.boxes, problem.offsets.tolist(), strict=True):
            for i, inner in box.inside:
                offsets[i] = offset + inner
    return offsets


def _alone(lifetimes: Sequence[Lifetime], i: int) -> Box:
    _, nbytes, first, last = lifetimes[i]
    return Box(first, last + 1, _aligned(nbytes), ((i, 0),))


def _aligned(nbytes: int) -> int:
    return -(-nbytes // ALIGNMENT) * ALIGNMENT


def _parts(lifetimes: Sequence[Lifetime]) -> Iterator[list[int]]:
    """The allocations that have bytes, by stretches of time that none of them reaches out of."""
    placed = [i for i, lifetime in enumerate(lifetimes) if lifetime.nbytes]
    part, end = list[int](), -1
    for i in sorted(placed, key=lambda i: lifetimes[i].first):
        if part and lifetimes[i].first > end:
            yield part
            part = []
        part.append(i)
        end = max(end, lifetimes[i].last)
    if part:
        yield part


def _end(lifetimes: Sequence[Lifetime], offsets: Sequence[int]) -> int:
    ends = (offset + lifetime.nbytes for offset, lifetime in zip(offsets, lifetimes, strict=True))
    return _aligned(max(ends, default=0))


class _Problem:
    """Boxes by the sections of time between two that begin or end."""

    def __init__(self, boxes: Sequence[Box]) -> None:
        begin = np.array([box.first for box in boxes], np.int64)
        end = np.array([box.end for box in boxes], np.int64)
        size = np.array([box.nbytes for box in boxes], np.int64)
        points = np.unique(np.concatenate([begin, end]))
        self.count, self.sections = len(size), max(len(points) - 1, 0)
        self.size = size
        self.first, self.last = np.searchsorted(points, begin), np.searchsorted(points, end)
        self.live = np.zeros(self.sections, np.int64)
        self.crossing = np.zeros(self.sections, np.int64)
        for first, last, nbytes in zip(self.first, self.last, size, strict=True):
            self.live[first:last] += nbytes
            self.crossing[first : last - 1] += 1
        total = [self.live[first:last].max() for first, last in zip(self.first, self.last, strict=True)]
        length = end - begin
        self.by = {"total": np.array(total, np.int64), "length": length, "area": length * size}
        self.offsets = np.zeros(0, np.int64)
        self.tried = 0

    def search(self, attempt: _Attempt, capacity: int, steps: int, library: KernelLibrary) -> int:
        """_FOUND with offsets, _NONE where there are none, _NOT_ENDED where the steps find none."""
        count, sections = self.count, self.sections
        arrays = {
            "order": self._places(attempt.order),
            **{"first": self.first, "last": self.last, "size": self.size},
            **{"height": np.zeros(sections, np.int64), "live": self.live.copy()},
            "crossing": self.crossing.copy(),
            "offsets": np.full(count, -1, np.int64),
            "trail": np.zeros(count + 1, np.int64),
            "heights": np.zeros(int((self.last - self.first).sum()) + 1, np.int64),
            # For each depth: a placement lies between one and the next. The first list is of all.
            "candidates": np.zeros((count + 2, count), np.int64),
            "lowest": np.zeros((count + 2, count), np.int64),
            "ends": np.zeros(sections, np.int64),
            "frames": np.zeros((count + 2, _FRAME), np.int64),
            "used": np.zeros(3, np.int64),
        }
        args = np.zeros(1, ARENA_SEARCH)
        args["count"], args["sections"], args["capacity"] = count, sections, capacity
        args["steps"], args["hasty"] = min(attempt.steps, steps), attempt.is_hasty
        for name, array in arrays.items():
            arrays[name] = np.ascontiguousarray(array, np.int64)
            args[name] = arrays[name].ctypes.data
        run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(
            library.address("arena_search", "search")
        )
        self.offsets = arrays["offsets"]
        status: int = run(args.ctypes.data, 0, 1)
        self.tried = int(arrays["used"][_TRIED])
        return status

    def _places(self, order: _Order) -> np.ndarray:
        """int64 [count]: the boxes, the first one first."""
        keys = [-self.by[field] for field in order.fields]
        if order.chance is not None:
            keys[0] = keys[0] * order.chance
        return np.lexsort(keys[::-1])
