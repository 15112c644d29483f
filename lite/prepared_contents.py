"""What preparing a graph has found, as the pieces of the file that prepared_model.py describes and reads."""

from __future__ import annotations

import marshal
from bisect import bisect_right
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from .available_memory import ALIGNMENT, OVERREAD_BYTES
from .plan import cost_of
from .preparation import is_whole, may_be_kept
from .prepared_file import HEADER, MAGIC, OF_ARRAYS, WORD, NotKept, checksum_of
from .prepared_model import KNOWN
from .tensor import AllocationType, Tensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .kernel_call import KernelCall
    from .prepared_graph import PreparedGraph
    from .prepared_model import Reference


def contents(graph: PreparedGraph, key: bytes) -> list[bytes | memoryview]:
    """The file of an allocated graph, in pieces; NotKept where it would not say all."""
    if not is_whole(graph) or not may_be_kept(graph, graph.schedule):
        raise NotKept("nodes have effects, or shapes that a run finds out")
    if any(node.calls is None for node in graph.schedule):
        raise NotKept("nodes run in Python")
    writer = _Writer(graph)
    stage = graph.stages[0]
    memory = stage.memory
    description = marshal.dumps(
        (
            [writer.tensor(t) for t in graph.tensors if not t.is_constant or t.allocation_type is KNOWN],
            [[(graph.tensors[t].nbytes, t) for t in node.temporaries] for node in graph.schedule],
            [[writer.call(call) for call in node.calls or ()] for node in graph.schedule],
            (list(map(tuple, memory.lifetimes)), list(memory.offsets), memory.arena_bytes, memory.owners),
            *writer.relocations(),
        )
    )
    pieces = [_padded(description), _padded(writer.blocks.tobytes()), *writer.pieces, bytes(OVERREAD_BYTES)]
    header = np.zeros(1, HEADER)
    header["magic"], header["key"] = MAGIC, np.void(key)
    header["description"], header["blocks"] = len(pieces[0]), len(pieces[1])
    header["checksum"] = checksum_of([header.tobytes(), *pieces])
    return [header.tobytes(), *pieces]


class _Writer:
    """Collects the arrays that calls have addresses of, and finds these addresses."""

    def __init__(self, graph: PreparedGraph) -> None:
        self._graph = graph
        self._calls = [call for node in graph.schedule for call in node.calls or ()]
        self.pieces: list[bytes | memoryview] = []
        self._nbytes = 0
        self._places: dict[tuple[int, int], int] = {}  # address and bytes of an array: its place
        self._arrays: list[np.ndarray] = []
        self._constants = [
            t for t in graph.tensors if t.allocation_type is AllocationType.MMAP_RO and t.data is not None
        ]
        self._starts: list[int] = []
        starts, blocks = 0, list[np.ndarray]()
        for call in self._calls:
            self._starts.append(starts)
            blocks.append(self._block(call))
            starts += blocks[-1].nbytes
        self.blocks = np.concatenate(blocks) if blocks else np.zeros(0, np.int64)
        self._next = iter(self._starts)

    def _block(self, call: KernelCall) -> np.ndarray:
        """The call's block as words, without what is filled in whenever it is bound."""
        if call.address or call.resize is not None:
            raise NotKept(f"{call.kernel} is not a kernel of the cache, or finds out shapes")
        words = np.zeros(-(-call.args.nbytes // WORD), np.int64)
        words.view(np.uint8)[: call.args.nbytes] = call.args.view(np.uint8)
        for name in (*call.tensors, "cancellation"):
            offset = _field(call, name)
            if offset >= 0:
                words[offset // WORD] = 0
        return words

    def tensor(self, t: Tensor) -> tuple[object, ...]:
        place = self.place(t.data) if t.allocation_type is KNOWN and t.data is not None else -1
        return t.index, t.shape, int(t.type), int(t.allocation_type), place

    def call(self, call: KernelCall) -> tuple[object, ...]:
        tensors = [(name, _field(call, name), self._reference(t)) for name, t in call.tensors.items()]
        keep = [(self.place(array), array.nbytes) for array in call.keep]
        keep = [entry for entry in keep if entry[0] >= 0]
        start, cancellation = next(self._next), _field(call, "cancellation")
        messages = dict(call.messages)
        block = (start, call.args.nbytes, cancellation)
        return call.family, call.kernel, block, tensors, call.chunks, keep, messages, cost_of(call)

    def _reference(self, t: Tensor) -> Reference:
        known = self._graph.tensors
        if 0 <= t.index < len(known) and known[t.index] is t:
            return t.index
        if not t.is_constant or t.data is None or t.sparsity is not None:
            raise NotKept(f"tensor {t!r} stands for another one")
        place = self.place(t.data)
        if place < 0:
            raise NotKept(f"tensor {t!r} is another one's values under another type")
        return place, len(t.data), t.shape, int(t.type)

    def place(self, array: np.ndarray) -> int:
        """Where the array's bytes are among the arrays; those of the model's constants are not (-1)."""
        if not array.flags.c_contiguous:
            raise NotKept("an array has gaps")
        address = array.__array_interface__["data"][0]
        key = address, array.nbytes
        if key in self._places:
            return self._places[key]
        if any(t.address <= address < t.address + len(t.data) for t in self._constants if t.data is not None):
            return -1
        gap = (address - self._nbytes) % ALIGNMENT  # as far behind a multiple of it as it was
        self._places[key] = self._nbytes + gap
        self._arrays.append(array)
        self.pieces += (bytes(gap), array.reshape(-1).view(np.uint8).data)
        self._nbytes += gap + array.nbytes
        return self._places[key]

    def relocations(self) -> tuple[list[tuple[int, int, int]], list[tuple[int, int, int]]]:
        """Of blocks and of arrays: which words are addresses, and what of; NotKept for any other address."""
        mapped = MappedRanges()
        known = [(address, nbytes, OF_ARRAYS, place) for (address, nbytes), place in self._places.items()]
        known += [(t.address, len(t.data), t.index, 0) for t in self._constants if t.data is not None]
        known.sort()
        in_blocks = _relocated(self.blocks, known, mapped)
        in_arrays = list[tuple[int, int, int]]()
        for array, place in zip(self._arrays, self._places.values(), strict=True):
            raw = array.reshape(-1).view(np.uint8)
            words = raw[: len(raw) // WORD * WORD].view(np.int64)
            of_words = array.dtype.names is not None or array.dtype.itemsize == WORD
            # Kernels put addresses into words alone: shorter numbers side by side may look like any.
            found = _relocated(words, known, mapped, others=of_words)
            if found and not of_words:
                raise NotKept("an array of bytes holds what looks like an address")
            in_arrays += ((place + word * WORD, of, offset) for word, of, offset in found)
        return in_blocks, in_arrays


def _field(call: KernelCall, name: str) -> int:
    """Where the call's block has a field, -1 for nowhere."""
    fields = call.args.dtype.fields
    return fields[name][1] if fields is not None and name in fields else -1


class MappedRanges:
    """The ranges of addresses that are in use when it is made; `address in ranges` asks for one.

    OSError where the system does not tell. Source: Linux, proc(5), /proc/pid/maps.
    """

    def __init__(self) -> None:
        with open("/proc/self/maps") as file:
            ends = [line.partition(" ")[0].split("-") for line in file]
        ranges = sorted((int(start, 16), int(end, 16)) for start, end in ends)
        ranges = [(start, end) for start, end in ranges if start < 1 << 63]  # the kernel's own page
        self._starts = [start for start, _ in ranges]
        self._ends = [end for _, end in ranges]
        self.lowest, self.highest = self._starts[0], self._ends[-1]

    def __contains__(self, address: int) -> bool:
        before = bisect_right(self._starts, address) - 1
        return before >= 0 and address < self._ends[before]


Known: TypeAlias = "tuple[int, int, int, int]"  # address and bytes, whose they are, and the place in that


def _relocated(
    words: np.ndarray, known: Sequence[Known], mapped: MappedRanges, others: bool = True
) -> list[tuple[int, int, int]]:
    """The words that are known addresses: number, what it is in, and where in that; NotKept for others."""
    starts = [entry[0] for entry in known]
    found = []
    for word in np.flatnonzero((words >= mapped.lowest) & (words < mapped.highest)).tolist():
        address = int(words[word])
        start, nbytes, of, place = known[bisect_right(starts, address) - 1] if known else (0, 0, 0, 0)
        if start <= address < start + max(nbytes, 1):
            found.append((word, of, place + address - start))
        elif others and address in mapped:
            raise NotKept(f"a block or an array holds the address {address:#x} of something else")
    return found


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % ALIGNMENT)
