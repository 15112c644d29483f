"""The memory plan that a model carries: metadata named OfflineMemoryAllocation, as TFLite Micro reads it.

int32 values: version 1, the subgraph, how many tensors follow, and for each its offset in the arena, -1 for
one that is to be placed when the model is loaded. Source: TFLite Micro, docs/offline_memory_planning.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from .arena_checker import find_faults
from .arena_planner import ALIGNMENT, plan_offsets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .lifetimes import Lifetime

_VERSION, _HEADER = 1, 3
_WORD = 4


def packed(subgraph: int, tensor_count: int, offsets: Mapping[int, int]) -> bytes:
    """The metadata's bytes; offsets by tensor, of those that have one."""
    values = [offsets.get(t, -1) for t in range(tensor_count)]
    return np.array([_VERSION, subgraph, tensor_count, *values], "<i4").tobytes()


def unpacked(content: bytes, subgraph: int) -> dict[int, int]:
    """Offsets by tensor; none where the content is of another subgraph, or is not what it should be."""
    values = np.frombuffer(content, "<i4", len(content) // _WORD).tolist()
    if values[:2] != [_VERSION, subgraph] or len(values) - _HEADER < 0 or values[2] != len(values) - _HEADER:
        return {}
    return {t: offset for t, offset in enumerate(values[_HEADER:]) if offset >= 0}


def offsets_with(
    lifetimes: Sequence[Lifetime], content: bytes | None, subgraph: int
) -> tuple[list[int], int]:
    """plan_offsets, with the model's own offsets where it has such and they are right for these lifetimes.

    They are wrong where allocations that are live together would overlap, or do not lie at multiples of
    ALIGNMENT, as plans for other runtimes may have it: then all are planned here, and the log says so.
    """
    given = {} if content is None else unpacked(content, subgraph)
    fixed = [(lifetime, given[lifetime.tensor]) for lifetime in lifetimes if lifetime.tensor in given]
    if not fixed:
        return plan_offsets(lifetimes)
    kept, places = [lifetime for lifetime, _ in fixed], [place for _, place in fixed]
    end = max(place + lifetime.nbytes for lifetime, place in fixed)
    faults = find_faults(kept, places, -(-end // ALIGNMENT) * ALIGNMENT)
    if faults:
        logging.getLogger("numlite").info("the model's memory plan is not used: %s", faults[0])
        return plan_offsets(lifetimes)
    rest, size = plan_offsets([x for x in lifetimes if x.tensor not in given], fixed=fixed)
    others = iter(rest)
    return [given[x.tensor] if x.tensor in given else next(others) for x in lifetimes], size
