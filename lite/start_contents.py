"""What a start file says of a graph that has just been restored from its prepared file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .prepared_file import OF_ARRAYS, WORD, NotKept
from .start_file import ARENA, ARRAYS, COPIES, MODEL
from .tensor import NUMPY_DTYPES, AllocationType, Tensor
from .tensor_details import quantization, quantization_parameters

if TYPE_CHECKING:
    from .model import Model
    from .prepared_file import Mapped
    from .prepared_graph import PreparedGraph
    from .start_file import End, Start
    from .tensor import Shape

_MOST_CHUNKS = (1 << 20) - 1


def start_of(graph: PreparedGraph, mapped: Mapped, model: Model, told: tuple[int, ...]) -> Start:
    """The start of a model with one graph; NotKept where a run needs more than a start can say."""
    own = any(t.allocation_type is AllocationType.ARENA_RW_PERSISTENT for t in graph.tensors)
    if len(model.root.subgraphs) != 1 or own:
        raise NotKept("the model has several graphs, or tensors have memory of their own")
    writer = _Writer(graph, mapped, model)
    inputs, outputs = (list(map(writer.end, ends)) for ends in (graph.inputs, graph.outputs))
    rows = [row for of_node in mapped.description[2] for row in map(writer.row, of_node)]
    in_arrays = writer.in_arrays()
    return {
        "key": mapped.key,
        "told": told,
        "arena_bytes": graph.stages[0].memory.arena_bytes,
        "inputs": inputs,
        "outputs": outputs,
        "kernels": list(writer.kernels),
        "rows": np.array(rows, np.int64).tobytes(),
        "in_blocks": np.array(writer.words, np.int64).tobytes(),
        "in_arrays": np.array(in_arrays, np.int64).tobytes(),
        "copies": list(writer.copies),
        "cancellations": writer.cancellations,
    }


class _Writer:
    """Says of addresses where they are, and collects the kernels and the copies that are named."""

    def __init__(self, graph: PreparedGraph, mapped: Mapped, model: Model) -> None:
        arena = graph.stages[0].memory.arena
        assert arena is not None
        self._graph, self._model = graph, model
        self._arena: int = arena.__array_interface__["data"][0]
        self._known = {entry[0]: entry[4] for entry in mapped.description[0] if entry[4] >= 0}
        self._in_arrays = mapped.description[5]
        self.kernels: dict[tuple[str, str], int] = {}
        self.copies: dict[tuple[int, int], int] = {}
        self.cancellations: list[int] = []
        self.words = [(word, *self._within(of, offset)) for word, of, offset in mapped.description[4]]
        self._shapes = [tuple(table.shape.tolist()) for table in model.root.subgraphs[0].tensors]

    def row(self, call: tuple[Any, ...]) -> tuple[int, int, int, int]:
        """The row of a call as the prepared file describes it; its tensors' addresses go into the words."""
        family, kernel, block, tensors, chunks, _, _, cost = call
        start, _, cancellation = block
        if cancellation >= 0:
            self.cancellations.append((start + cancellation) // WORD)
        for _, offset, reference in tensors:
            at = self._of_tensor(reference)
            if at is not None:
                self.words.append(((start + offset) // WORD, *at))
        number = self.kernels.setdefault((family, kernel), len(self.kernels))
        return number, start, min(max(chunks, 1), _MOST_CHUNKS), cost

    def _of_tensor(self, reference: int | tuple[int, ...]) -> tuple[int, int] | None:
        """What a tensor lies in, and where; None for one that has no bytes."""
        if not isinstance(reference, int):
            return ARRAYS, reference[0]
        if reference in self._known:
            return ARRAYS, self._known[reference]
        tensor = self._graph.tensors[reference]
        if not tensor.address or tensor.is_constant:
            return self._of_constant(tensor) if tensor.address else None
        return ARENA, tensor.address - self._arena

    def _of_constant(self, tensor: Tensor) -> tuple[int, int]:
        assert tensor.data is not None
        if not len(tensor.data):
            return ARENA, 0
        origin = self._model.origin(tensor.data)
        if origin is None:
            raise NotKept(f"tensor {tensor!r} is no constant of the file")
        place, is_copy = origin
        if not is_copy:
            return MODEL, place
        return COPIES + self.copies.setdefault((place, len(tensor.data)), len(self.copies)), 0

    def _within(self, of: int, offset: int) -> tuple[int, int]:
        if of == OF_ARRAYS:
            return ARRAYS, offset
        base, place = self._of_constant(self._graph.tensors[of])
        return base, place + offset

    def in_arrays(self) -> list[tuple[int, int, int]]:
        """The words of arrays that are addresses."""
        if any(place % WORD for place, _, _ in self._in_arrays):
            raise NotKept("an array is not aligned")
        return [(place // WORD, *self._within(of, offset)) for place, of, offset in self._in_arrays]

    def end(self, index: int) -> End:
        """An input or output; NotKept for one that is no plain array of the arena, in the file's shape."""
        t, tensors = self._graph.tensors[index], self._graph.tensors
        dtype = NUMPY_DTYPES.get(t.type)
        is_plain = t.allocation_type is AllocationType.ARENA_RW and t.type == t.declared_type and t.address
        if dtype is None or not is_plain or t.sparsity is not None or t.first_shape != self._shapes[index]:
            raise NotKept("an input or output is no plain array, or has another shape than in the file")
        given = quantization_parameters(t, tensors)
        if given["block_size"]:
            raise NotKept("an input or output is quantized by blocks")
        return {
            "index": index,
            "name": t.name,
            "first_shape": _plain(t.first_shape),
            "shape": _plain(t.shape),
            "signature": None if t.signature is None else _plain(t.signature),
            "dtype": dtype.str,
            "offset": t.address - self._arena,
            "nbytes": t.nbytes,
            "quantization": quantization(t),
            "scales": given["scales"].tobytes(),
            "zero_points": given["zero_points"].tobytes(),
            "quantized_dimension": int(given["quantized_dimension"]),
        }


def _plain(shape: Shape) -> Shape:
    return tuple(map(int, shape))
