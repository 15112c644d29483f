"""Which tensors of the arena still hold their values when a run has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .registration import InplaceOperator
from .tensor import AllocationType

if TYPE_CHECKING:
    from .memory import StageMemory
    from .subgraph import Subgraph
    from .tensor import Tensor


def check_kept(subgraph: Subgraph, tensor: Tensor) -> None:
    """ValueError for an intermediate tensor whose bytes are given to others in the course of a run.

    Results that no node reads, constants, variables and dynamic tensors keep theirs, and
    with preserve_all_tensors all do. Any other intermediate has its value to the end only if no tensor
    that is written after it lies in the same bytes; none has one that lies in a resource variable's memory,
    which other graphs may assign. LiteRT raises for those that its default delegate has
    taken, which are most.
    """
    if (
        tensor.allocation_type is not AllocationType.ARENA_RW
        or subgraph.runtime.settings.preserve_all_tensors
    ):
        return
    if any(_is_overwritten(subgraph, stage.memory, tensor.index) for stage in subgraph.stages):
        raise ValueError(
            f"Tensor data is null. Tensor {tensor.index} {tensor!r} is an intermediate value, and its memory "
            "is used for others while the model runs; experimental_preserve_all_tensors=True keeps it"
        )


def _is_overwritten(subgraph: Subgraph, memory: StageMemory, t: int) -> bool:
    if t in memory.in_variables:
        return True
    owner = memory.owners.get(t, t)
    places = {place[0].tensor: place for place in zip(memory.lifetimes, memory.offsets, strict=True)}
    if owner not in places:
        return False
    own, start = places[owner]
    later = (
        offset < start + own.nbytes and start < offset + other.nbytes and other.first > own.last
        for other, offset in places.values()
        if other.nbytes
    )
    return own.nbytes > 0 and (any(later) or t not in _last_in_place(subgraph, memory, owner))


def _last_in_place(subgraph: Subgraph, memory: StageMemory, owner: int) -> set[int]:
    """The tensors whose value lies at the end in bytes that several share: the last one written,
    and those that it left as they were."""
    last = {owner}
    for node in subgraph.schedule:
        for t in node.outputs:
            if memory.owners.get(t) == owner:
                kept = node.registration.inplace_operator & InplaceOperator.DATA_UNMODIFIED
                last = last | {t} if kept else {t}
    return last
