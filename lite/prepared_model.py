"""Having a graph as the file of its preparation says, instead of preparing it."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .kernel_call import KernelCall
from .memory import StageMemory
from .prepared_file import OF_ARRAYS, WORD
from .tensor import AllocationType, Tensor

if TYPE_CHECKING:
    from .prepared_file import Mapped
    from .prepared_graph import PreparedGraph

    Reference: TypeAlias = (
        "int | tuple[int, int, tuple[int, ...], int]"  # a tensor's index, or one of its own
    )

_ARENA, KNOWN = AllocationType.ARENA_RW, AllocationType.PERSISTENT_RO


def restore(graph: PreparedGraph, mapped: Mapped, arena: np.ndarray | None = None) -> None:
    """Have a graph that was never prepared as it was when the file was written, in a given arena perhaps."""
    tensors, scratch, calls, memory, in_blocks, in_arrays = mapped.description
    _restore_tensors(graph, scratch, tensors, mapped.arrays)
    bases = {t.index: t.address for t in graph.tensors if t.is_constant}
    bases[OF_ARRAYS] = mapped.arrays.__array_interface__["data"][0]
    words = mapped.blocks.view(np.int64)
    for word, of, offset in in_blocks:
        words[word] = bases[of] + offset
    for place, of, offset in in_arrays:
        mapped.arrays[place : place + WORD].view(np.int64)[0] = bases[of] + offset
    for node, of_node in zip(graph.schedule, calls, strict=True):
        node.calls = [_call(graph, mapped, *fields) for fields in of_node]
    last = len(graph.schedule) - 1
    lifetimes, offsets, arena_bytes, owners = memory
    graph.put_stage(0, last, StageMemory.of(graph, last, lifetimes, offsets, arena_bytes, owners, arena))


def _restore_tensors(
    graph: PreparedGraph,
    scratch: list[list[tuple[int, int]]],
    tensors: list[tuple[int, tuple[int, ...], int, int, int]],
    arrays: np.ndarray,
) -> None:
    for node, wanted in zip(graph.schedule, scratch, strict=True):
        for nbytes, number in wanted:
            added = graph.add_temporary(node, nbytes)
            assert added.index == number, (added.index, number)
    for index, shape, type, kind, place in tensors:
        tensor = graph.tensors[index]
        tensor.shape, tensor.type, tensor.allocation_type = shape, type, AllocationType(kind)
        if place >= 0:
            tensor.bind(arrays[place : place + tensor.nbytes])


def _call(
    graph: PreparedGraph,
    mapped: Mapped,
    family: str,
    kernel: str,
    block: tuple[int, int, int],
    tensors: list[tuple[str, int, Reference]],
    chunks: int,
    keep: list[tuple[int, int]],
    messages: dict[int, str],
    cost: int,
) -> KernelCall:
    start, nbytes, cancellation = block
    offsets = {name: offset for name, offset, _ in tensors}
    if cancellation >= 0:
        offsets["cancellation"] = cancellation
    args = mapped.blocks[start : start + nbytes].view(_block_type(tuple(offsets.items()), nbytes))
    given = {name: _tensor(graph, mapped.arrays, reference) for name, _, reference in tensors}
    kept = [mapped.array(place, size) for place, size in keep]
    call = KernelCall(family, kernel, args, given, chunks, kept, messages)
    call.cost = cost
    return call


def _tensor(graph: PreparedGraph, arrays: np.ndarray, reference: Reference) -> Tensor:
    if isinstance(reference, int):
        return graph.tensors[reference]
    place, nbytes, shape, type = reference
    tensor = Tensor(-1, "", type, shape)
    tensor.allocation_type = KNOWN
    tensor.bind(arrays[place : place + nbytes])
    return tensor


@cache
def _block_type(fields: tuple[tuple[str, int], ...], nbytes: int) -> np.dtype:
    """A block of which only the fields that hold addresses of tensors have names."""
    names, offsets = [name for name, _ in fields], [offset for _, offset in fields]
    return np.dtype(
        {"names": names, "formats": [np.int64] * len(names), "offsets": offsets, "itemsize": nbytes}
    )
