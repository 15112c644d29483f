"""What preparing a graph has found, as one file that is mapped the next time.

The file, in order: HEADER; the description (marshal, read only where the checksum holds); the argument
blocks; the arrays that kernels find by address (packed weights, tables, known values); and OVERREAD_BYTES.
Addresses in blocks and arrays are listed with what they stood for, and written anew.
Blocks say where kernels read and write, so that such a file is trusted as code is.
"""

from __future__ import annotations

import marshal
import mmap
import zlib
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .errors import ModelError
from .kernel_call import KernelCall
from .memory import ALIGNMENT, StageMemory
from .private_file import DIGEST_BYTES
from .tensor import AllocationType, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .prepared_graph import PreparedGraph

    Reference: TypeAlias = (
        "int | tuple[int, int, tuple[int, ...], int]"  # a tensor's index, or one of its own
    )

MAGIC = b"numlite1"
HEADER = np.dtype(
    {
        "names": ["magic", "key", "description", "blocks", "checksum"],
        "formats": ["S8", f"V{DIGEST_BYTES}", np.int64, np.int64, np.int64],
        "itemsize": 2 * ALIGNMENT,
    }
)
WORD = 8
_ARENA, KNOWN = AllocationType.ARENA_RW, AllocationType.PERSISTENT_RO
OF_ARRAYS = -1  # what an address is in, unless it is the constant tensor of that number


class NotKept(Exception):
    """Why what has been prepared cannot be kept."""


class Mapped:
    """A file of this key, mapped; ModelError where it is another one's, or damaged.

    Pages that are not written to are shared with all who map it.
    """

    def __init__(self, handle: int, key: bytes, is_verified: bool = False) -> None:
        """is_verified says that the checksum of these very bytes was right before."""
        try:
            content = mmap.mmap(handle, 0, access=mmap.ACCESS_COPY)
        except (OSError, ValueError) as error:
            raise ModelError(f"prepared model: it cannot be mapped: {error}") from error
        memory = np.frombuffer(content, np.uint8)
        if len(memory) < HEADER.itemsize or bytes(memory[: len(MAGIC)]) != MAGIC:
            raise ModelError("prepared model: the file is not one")
        header = memory[: HEADER.itemsize].view(HEADER)[0]
        if header["key"].tobytes() != key:
            raise ModelError(
                "prepared model: it was made for another model, numlite, processor or setting: "
                "numlite prepare makes one for these"
            )
        checksum, header["checksum"] = int(header["checksum"]), 0  # in this process's copy of the page
        if not is_verified and checksum != checksum_of([memory.data]):
            raise ModelError("prepared model: the file is damaged")
        blocks = HEADER.itemsize + int(header["description"])
        self.description = marshal.loads(memory[HEADER.itemsize : blocks].data)
        arrays = blocks + int(header["blocks"])
        self.blocks = memory[blocks:arrays]
        self.arrays = memory[arrays:]
        self._known: dict[tuple[int, int], np.ndarray] = {}

    def array(self, place: int, nbytes: int) -> np.ndarray:
        """One of the arrays; the same object for all calls that hold it, as when the model was prepared."""
        known = self._known.get((place, nbytes))
        if known is None:
            # An empty array has an address, too, which an empty slice would not give.
            known = self._known[place, nbytes] = self.arrays[place : place + max(nbytes, 1)]
        return known


def restore(graph: PreparedGraph, mapped: Mapped) -> None:
    """Have a graph that was never prepared as it was when the file was written."""
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
    graph.put_stage(0, last, StageMemory.of(graph, last, *memory))


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


def checksum_of(pieces: Iterable[bytes | memoryview]) -> int:
    checksum = 0
    for piece in pieces:
        checksum = zlib.crc32(piece, checksum)
    return checksum
