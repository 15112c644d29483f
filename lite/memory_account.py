"""Fills in the memory report of a subgraph."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .memory_report import MemoryReport, TensorMemory
from .preparation import arrays_of
from .tensor import AllocationType

if TYPE_CHECKING:
    from .subgraph import Subgraph
    from .tensor import Tensor


def account(subgraph: Subgraph) -> MemoryReport:
    """How many bytes the subgraph takes now; offsets and lifetimes once it is allocated."""
    called = sum(map(_writable_bytes, _called(subgraph).values()))
    return replace(_account_own(subgraph), called_bytes=called, tensors=tuple(_placements(subgraph)))


def _account_own(subgraph: Subgraph) -> MemoryReport:
    kinds: dict[AllocationType, dict[int, int]] = {}
    for tensor in subgraph.tensors:
        if tensor.data is not None:
            kinds.setdefault(tensor.allocation_type, {})[tensor.address] = tensor.data.size
    packed = arrays_of(subgraph.schedule)
    present = {id(stage) for stage in subgraph.stages} | {id(tensor.data) for tensor in subgraph.tensors}

    def held(kind: AllocationType) -> int:
        return sum(kinds.get(kind, {}).values())

    return MemoryReport(
        arena_bytes=sum(stage.memory.arena_bytes for stage in subgraph.stages),
        lower_bound_bytes=sum(stage.memory.lower_bound_bytes() for stage in subgraph.stages),
        persistent_bytes=held(AllocationType.ARENA_RW_PERSISTENT),
        constant_bytes=held(AllocationType.MMAP_RO),
        dynamic_bytes=held(AllocationType.DYNAMIC),
        packed_bytes=sum(packed.values()),
        kept_bytes=sum(
            n for held, n in subgraph.earlier.held.items() if held not in packed and held not in present
        ),
    )


def _writable_bytes(subgraph: Subgraph) -> int:
    own = _account_own(subgraph)
    return own.arena_bytes + own.persistent_bytes + own.dynamic_bytes + own.packed_bytes + own.kept_bytes


def _called(subgraph: Subgraph) -> dict[int, Subgraph]:
    """The subgraphs that the nodes of this one run, and those that these run, by identity."""
    found: dict[int, Subgraph] = {}
    waiting = list(subgraph.callees)
    while waiting:
        called = waiting.pop()
        if id(called) not in found:
            found[id(called)] = called
            waiting += called.callees
    return found


def _placements(subgraph: Subgraph) -> list[TensorMemory]:
    places: dict[int, tuple[int, int, int]] = {}
    owners: dict[int, int] = {}
    base = 0
    for stage in subgraph.stages:
        memory = stage.memory
        for lifetime, offset in zip(memory.lifetimes, memory.offsets, strict=True):
            places[lifetime.tensor] = base + offset, lifetime.first, lifetime.last
        owners |= memory.owners
        base += memory.arena_bytes
    return [_placement(tensor, places, owners) for tensor in subgraph.tensors]


def _placement(
    tensor: Tensor, places: dict[int, tuple[int, int, int]], owners: dict[int, int]
) -> TensorMemory:
    owner = owners.get(tensor.index)
    offset, first, last = places.get(tensor.index if owner is None else owner, (None, None, None))
    return TensorMemory(
        index=tensor.index,
        name=tensor.name,
        type=tensor.type_name,
        shape=tensor.shape,
        nbytes=tensor.nbytes if tensor.data is None else tensor.data.size,
        kind=tensor.allocation_type.name.lower(),
        offset=offset,
        first=first,
        last=last,
        shares_with=owner,
    )
