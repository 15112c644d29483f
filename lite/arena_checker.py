"""ArenaChecker: says what is wrong with a memory plan, position by position, for tests and debugging."""

from __future__ import annotations

from collections.abc import Sequence

from .arena_planner import ALIGNMENT
from .lifetimes import Lifetime


def find_faults(
    lifetimes: Sequence[Lifetime],
    offsets: Sequence[int],
    arena_bytes: int,
    alignment: int = ALIGNMENT,
) -> list[str]:
    """One sentence for each fault of a plan; an empty list proves the plan right.

    Checks that every allocation is aligned and inside the arena, and that at no position of
    the execution plan two live allocations have a byte in common. Looks at each position by
    itself and shares no code with the planner.
    """
    if len(lifetimes) != len(offsets):
        return [f"{len(lifetimes)} lifetimes but {len(offsets)} offsets"]
    faults = [
        fault
        for lifetime, offset in zip(lifetimes, offsets, strict=True)
        for fault in _placement_faults(lifetime, offset, arena_bytes, alignment)
    ]
    clashes: set[tuple[int, int]] = set()
    for position in range(max((lifetime.last for lifetime in lifetimes), default=-1) + 1):
        for pair in _clashes_at(position, lifetimes, offsets) - clashes:
            clashes.add(pair)
            faults.append(_describe(pair, position, lifetimes, offsets))
    return faults


def _placement_faults(lifetime: Lifetime, offset: int, arena_bytes: int, alignment: int) -> list[str]:
    faults = []
    if lifetime.first > lifetime.last:
        faults.append(
            f"tensor {lifetime.tensor}: dies at {lifetime.last}, before its birth at {lifetime.first}"
        )
    if offset % alignment:
        faults.append(f"tensor {lifetime.tensor}: offset {offset} is not a multiple of {alignment}")
    if offset < 0 or offset + lifetime.nbytes > arena_bytes:
        end = offset + lifetime.nbytes
        faults.append(f"tensor {lifetime.tensor}: bytes {offset} to {end} leave the arena of {arena_bytes}")
    return faults


def _clashes_at(position: int, lifetimes: Sequence[Lifetime], offsets: Sequence[int]) -> set[tuple[int, int]]:
    """Pairs of allocations (by place in the lists) that are live at position and overlap."""
    live = sorted(
        (offsets[i], offsets[i] + lifetime.nbytes, i)
        for i, lifetime in enumerate(lifetimes)
        if lifetime.nbytes > 0 and lifetime.first <= position <= lifetime.last
    )
    clashes = set()
    for k, (_, end, i) in enumerate(live):
        for start, _, j in live[k + 1 :]:
            if start >= end:
                break
            clashes.add((min(i, j), max(i, j)))
    return clashes


def _describe(
    pair: tuple[int, int], position: int, lifetimes: Sequence[Lifetime], offsets: Sequence[int]
) -> str:
    parts = [
        f"tensor {lifetimes[i].tensor} (bytes {offsets[i]} to {offsets[i] + lifetimes[i].nbytes}, "
        f"live {lifetimes[i].first} to {lifetimes[i].last})"
        for i in pair
    ]
    return f"{parts[0]} and {parts[1]} overlap at position {position}"
