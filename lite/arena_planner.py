"""ArenaPlanner: assigns offsets in one block of memory to tensors by their lifetimes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .lifetimes import Lifetime

ALIGNMENT = 64
OFFLINE_PLAN = "OfflineMemoryAllocation"  # the metadata that offline_plan.py reads

# How much work the search may do once the plain orders have missed the lower bound, counted
# in neighbours looked at (roughly 100 ns each). A count, not a clock: plans must not depend
# on how busy the machine is.
SEARCH_STEPS = 200_000

_UNPLACED = -1


def lower_bound(lifetimes: Sequence[Lifetime], alignment: int = ALIGNMENT) -> int:
    """The largest sum of aligned sizes live at one position: no arena can be smaller."""
    return _Problem(lifetimes, (), alignment).bound


def plan_offsets(
    lifetimes: Sequence[Lifetime],
    alignment: int = ALIGNMENT,
    fixed: Sequence[tuple[Lifetime, int]] = (),
    search_steps: int = SEARCH_STEPS,
) -> tuple[list[int], int]:
    """Offsets in bytes, in the order given, and the size in bytes of the arena.

    Every offset and the size are multiples of alignment. Allocations that are live at a common
    position never overlap. fixed holds allocations that already have an offset (from planning
    an earlier part of the plan); they stay where they are and count in the size.

    Places by best fit, largest first, as TFLite does; when the size is above the lower bound,
    tries other orders and then a bounded search, and keeps the best. The same lifetimes always
    give the same plan.
    """
    problem = _Problem(lifetimes, fixed, alignment)
    for order in _orders(lifetimes, problem.sizes):
        problem.attempt(order)
        if problem.best_size <= problem.bound:
            break
    else:
        _search(problem, search_steps)
    return problem.best[: len(lifetimes)], problem.best_size


class _Problem:
    """Allocations, who is live together with whom, and the best placement so far."""

    def __init__(
        self, lifetimes: Sequence[Lifetime], fixed: Sequence[tuple[Lifetime, int]], alignment: int
    ) -> None:
        every = [*lifetimes, *(lifetime for lifetime, _ in fixed)]
        self.sizes = [-(-lifetime.nbytes // alignment) * alignment for lifetime in every]
        self.start = [_UNPLACED] * len(lifetimes) + [offset for _, offset in fixed]
        self.neighbours, self.bound = _overlaps(every, self.sizes)
        fixed_end = max((o + s for o, s in zip(self.start, self.sizes, strict=True) if o >= 0), default=0)
        self.fixed_end = fixed_end
        self.bound = max(self.bound, fixed_end)
        self.best: list[int] = []
        self.best_order: list[int] = []
        self.best_size = -1
        self.steps = 0

    def attempt(self, order: Iterable[int]) -> int:
        """Place the allocations in this order and keep the result if it is the smallest yet.

        Returns the allocation that made the arena as large as the best one, or larger (the
        rest is not placed then), or -1.
        """
        order = list(order)
        offsets = self.start.copy()
        sizes = self.sizes
        limit = self.best_size
        arena = self.fixed_end
        for i in order:
            size = sizes[i]
            neighbours = self.neighbours[i]
            self.steps += len(neighbours) + 1
            offset = _best_fit(size, sorted([(offsets[j], sizes[j]) for j in neighbours if offsets[j] >= 0]))
            offsets[i] = offset
            if offset + size > arena:
                arena = offset + size
                if 0 <= limit <= arena:
                    return i
        self.best, self.best_order, self.best_size = offsets, order, arena
        return -1


def _best_fit(size: int, taken: list[tuple[int, int]]) -> int:
    """Start of the smallest gap of at least size between the taken (offset, size) pairs, in order."""
    if not size:
        return 0
    best, best_gap = _UNPLACED, 0
    current = 0
    for offset, taken_size in taken:
        gap = offset - current
        if gap >= size and (best < 0 or gap < best_gap):
            best, best_gap = current, gap
        if offset + taken_size > current:
            current = offset + taken_size
    return best if best >= 0 else current


def _overlaps(lifetimes: Sequence[Lifetime], sizes: Sequence[int]) -> tuple[list[list[int]], int]:
    """For each allocation those that share a position with it, and the largest sum of live sizes."""
    neighbours: list[list[int]] = [[] for _ in lifetimes]
    live: list[int] = []
    bound = 0
    for i in sorted(range(len(lifetimes)), key=lambda i: lifetimes[i].first):
        first = lifetimes[i].first
        live = [j for j in live if lifetimes[j].last >= first]
        if not sizes[i]:
            continue
        neighbours[i] = live.copy()
        for j in live:
            neighbours[j].append(i)
        live.append(i)
        bound = max(bound, sum([sizes[j] for j in live]))
    return neighbours, bound


def _orders(lifetimes: Sequence[Lifetime], sizes: Sequence[int]) -> Iterable[list[int]]:
    """Orders in which to place, the likeliest first. Made one by one: mostly the first will do."""
    count = range(len(lifetimes))
    begin = min((lifetime.first for lifetime in lifetimes), default=0)
    end = max((lifetime.last for lifetime in lifetimes), default=0)

    def as_tflite(i: int) -> tuple[int, int, int]:
        _, _, first, last = lifetimes[i]
        return (0, 0, i) if first <= begin and last >= end else (1, -sizes[i], first)

    def duration(i: int) -> int:
        return lifetimes[i].last - lifetimes[i].first + 1

    yield sorted(count, key=as_tflite)
    yield sorted(count, key=lambda i: (-sizes[i], lifetimes[i].first))
    yield sorted(count, key=lambda i: (-sizes[i] * duration(i), lifetimes[i].first))
    yield sorted(count, key=lambda i: (-duration(i), -sizes[i]))
    yield sorted(count, key=lambda i: (lifetimes[i].first, -sizes[i]))
    yield sorted(count, key=lambda i: (-lifetimes[i].last, -sizes[i]))
    yield _by_contention(lifetimes, sizes)


def _by_contention(lifetimes: Sequence[Lifetime], sizes: Sequence[int]) -> list[int]:
    """First what is live where most bytes are live; among equals the largest."""
    live_at = [
        [i for i, lifetime in enumerate(lifetimes) if lifetime.first <= position <= lifetime.last]
        for position in sorted({lifetime.first for lifetime in lifetimes})
    ]
    live_at.sort(key=lambda live: sum([sizes[i] for i in live]), reverse=True)
    order: dict[int, None] = {}
    for live in live_at:
        order.update(dict.fromkeys(sorted(live, key=lambda i: -sizes[i])))
    return list(order)


def _search(problem: _Problem, search_steps: int) -> None:
    """Improve the best order: what would not fit is placed earlier, time after time."""
    order = problem.best_order
    limit = problem.steps + search_steps
    while problem.steps < limit and problem.best_size > problem.bound:
        culprit = problem.attempt(order)
        if culprit < 0:
            continue
        position = order.index(culprit)
        order = order.copy()
        order.insert(position // 2, order.pop(position))
