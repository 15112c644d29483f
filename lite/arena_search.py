"""ArenaSearch: memory plans that fit a given arena, by a complete search in native code, for those who ship.

Allocations are placed from the bottom up, each on the highest of what lies below it (a canonical form that
every plan can be brought into), the lowest first; kernels/compiled/arena_search.py says what is cut off.
Source: M. D. Moffitt, MiniMalloc: A Lightweight Memory Allocator for Hardware-Accelerated Machine Learning,
ASPLOS 2023.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .arena_planner import ALIGNMENT, lower_bound, plan_offsets
from .native_blocks import ARENA_SEARCH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .kernel_call import KernelLibrary
    from .lifetimes import Lifetime

# Placements that a whole search may try, some two microseconds each. A count, not a clock: the same
# lifetimes give the same plan on every machine.
SEARCH_STEPS = 4_000_000
_FIRST_STEPS = 100_000
_FOUND, _NONE = 0, 1
_FRAME = 11  # words of a frame of the search


class _Order(NamedTuple):
    """Which allocation comes first of those that can lie as low: the largest by these, in turn."""

    fields: tuple[str, ...]


# By the fullest position that it is live at, its life's length, and its area (bytes times length).
_ORDERS = (_Order(("total", "length", "area")), _Order(("total", "area", "length")))


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
    placed = [i for i, lifetime in enumerate(lifetimes) if lifetime.nbytes]
    problem = _Problem([lifetimes[i] for i in placed])
    budget = _FIRST_STEPS
    while steps > 0:
        for order in _ORDERS:
            status = problem.search(order, capacity, min(budget, steps), library)
            if status == _FOUND:
                offsets = [0] * len(lifetimes)
                for i, offset in zip(placed, problem.offsets.tolist(), strict=True):
                    offsets[i] = offset
                return offsets
            if status == _NONE:
                return None
        steps -= budget * len(_ORDERS)
        budget *= 4
    return None


def _end(lifetimes: Sequence[Lifetime], offsets: Sequence[int]) -> int:
    ends = (offset + lifetime.nbytes for offset, lifetime in zip(offsets, lifetimes, strict=True))
    return -(-max(ends, default=0) // ALIGNMENT) * ALIGNMENT


class _Problem:
    """Allocations by the sections of time between two that begin or end."""

    def __init__(self, lifetimes: Sequence[Lifetime]) -> None:
        begin = np.array([lifetime.first for lifetime in lifetimes], np.int64)
        end = np.array([lifetime.last + 1 for lifetime in lifetimes], np.int64)
        size = np.array([-(-lifetime.nbytes // ALIGNMENT) * ALIGNMENT for lifetime in lifetimes], np.int64)
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

    def search(self, order: _Order, capacity: int, steps: int, library: KernelLibrary) -> int:
        """_FOUND with offsets, _NONE where there are none, anything else where the search has not ended."""
        count, sections = self.count, self.sections
        arrays = {
            "order": np.lexsort([-self.by[field] for field in reversed(order.fields)]),
            **{"first": self.first, "last": self.last, "size": self.size},
            **{"height": np.zeros(sections, np.int64), "live": self.live.copy()},
            "crossing": self.crossing.copy(),
            "offsets": np.full(count, -1, np.int64),
            "trail": np.zeros(count + 1, np.int64),
            "heights": np.zeros(int((self.last - self.first).sum()) + 1, np.int64),
            # For each depth: a placement lies between one and the next.
            "candidates": np.zeros((count + 1, count), np.int64),
            "lowest": np.zeros((count + 1, count), np.int64),
            "floors": np.zeros((count + 1, sections), np.int64),
            "frames": np.zeros((count + 2, _FRAME), np.int64),
            "used": np.zeros(3, np.int64),
        }
        args = np.zeros(1, ARENA_SEARCH)
        args["count"], args["sections"], args["capacity"], args["steps"] = count, sections, capacity, steps
        for name, array in arrays.items():
            arrays[name] = np.ascontiguousarray(array, np.int64)
            args[name] = arrays[name].ctypes.data
        run = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)(
            library.address("arena_search", "search")
        )
        self.offsets = arrays["offsets"]
        status: int = run(args.ctypes.data, 0, 1)
        return status
