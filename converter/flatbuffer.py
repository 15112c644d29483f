"""A LiteModel as a .tflite file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from os import PathLike

import numpy as np

from ..kernels.packed import PACKED_BITS, packed
from ..lite.available_memory import OVERREAD_BYTES
from ..lite.errors import ModelError
from ..lite.string_tensor import pack_strings
from ..lite.tensor import TensorType
from ..lite.whole_file import write_whole
from ..schema import tflite
from ..schema.operator_code import operator_code
from ..schema.writer import MAX_BYTES
from .lite_graph import LiteGraph, LiteModel, LiteOperator, LiteSignature, LiteTensor
from .operator_version import runtime_version, version_of
from .same_content import SameContent

# What inlining puts before the names of a function's nodes, where it says no more than that it was called.
_CALLS = re.compile(r"^(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)+")
# Where buffers start, in the file and in memory.
_ALIGNMENT = 16
_RUNTIME_VERSION_BYTES = 16
RUNTIME_VERSION = "min_runtime_version"


def name_in_file(name: str) -> str:
    """A tensor's name as the file has it, but for the number of one that occurs twice."""
    return _CALLS.sub("", name)


class ModelFile:
    """The file, which may be larger than what fits into one flatbuffer.

    contents are the bytes (flat uint8) of the model's buffers, which it has none of itself. Up to
    `most_bytes` they are inside of the flatbuffer; a larger model has them behind it, each at an
    offset that the flatbuffer tells.
    """

    def __init__(
        self, model: tflite.ModelT, contents: Sequence[np.ndarray], most_bytes: int = MAX_BYTES
    ) -> None:
        self._model = model
        self._contents = contents
        self._most_bytes = most_bytes

    def content(self) -> bytes:
        """All of it."""
        return b"".join(self.pieces())

    def view(self) -> memoryview:
        """All of it, where it was written if that is in one piece."""
        pieces = list(self.pieces())
        return memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))

    def write(self, path: str | PathLike[str]) -> int:
        """Write the whole file or, with an OSError, none; returns its size. No copy of it is made."""
        return write_whole(path, self.pieces())

    def pieces(self) -> Iterator[bytes | memoryview]:
        """The file in parts, one after another; ModelError when the graph alone is too large."""
        try:
            yield from self._outside() if self._is_large() else [self._inside()]
        except ValueError as error:
            # A size that grew too large on the way.
            raise ModelError(f"model: {error}") from error

    def _is_large(self) -> bool:
        total = sum(content.nbytes + 2 * _ALIGNMENT for content in self._contents)
        if total <= self._most_bytes // 2:
            return False
        return total + len(self._packed([tflite.BufferT() for _ in self._contents])) > self._most_bytes

    def _inside(self) -> memoryview:
        return self._packed([tflite.BufferT(data=c if c.size else None) for c in self._contents])

    def _outside(self) -> Iterator[bytes | memoryview]:
        # Offsets take the same room whatever they are, unless they are 0.
        at = len(self._packed([tflite.BufferT(offset=1, size=1) for _ in self._contents]))
        buffers: list[tflite.BufferT] = []
        paddings: list[int] = []
        for content in self._contents:
            padding = -at % _ALIGNMENT
            paddings.append(padding)
            # 0 and 1 stand for a buffer that is not there.
            size = content.nbytes
            buffers.append(tflite.BufferT(offset=at + padding if size else 1, size=size or 1))
            at += padding + size
        yield self._packed(buffers)
        for content, padding in zip(self._contents, paddings, strict=True):
            yield bytes(padding)
            yield content.data
        # What readers may look at behind a buffer: a large one at the end would have to be copied.
        yield bytes(OVERREAD_BYTES)

    def _packed(self, buffers: list[tflite.BufferT]) -> memoryview:
        self._model.buffers = buffers
        try:
            return tflite.SCHEMA.packed(self._model, tflite.IDENTIFIER)
        finally:
            self._model.buffers = None


def model_file(model: LiteModel, most_bytes: int = MAX_BYTES) -> ModelFile:
    """The file of a model; larger than `most_bytes`, it has its buffers behind the flatbuffer."""
    writer = _ModelWriter(model)
    return ModelFile(writer.model, writer.contents, most_bytes)


class _ModelWriter:
    """Numbers graphs, tensors, buffers and operator codes."""

    def __init__(self, model: LiteModel) -> None:
        # Bytes of each buffer, flat uint8; the first is that of tensors without data.
        self.contents = [np.empty(0, np.uint8)]
        self._codes: list[tflite.OperatorCodeT] = []
        self._code_indices: dict[tuple[int, str | None, int], int] = {}
        # The buffer of each different content.
        self._known = SameContent()
        self._buffer_indices: list[int] = []
        graphs = model.graphs()
        self._graph_indices = {id(graph): i for i, graph in enumerate(graphs)}
        # By the tensor's id: its place in its graph.
        self._indices = {id(tensor): i for graph in graphs for i, tensor in enumerate(graph.tensors())}
        subgraphs = [self._subgraph(graph) for graph in graphs]
        self.model = tflite.ModelT(
            version=3,
            description="numlite",
            operator_codes=self._codes,
            subgraphs=subgraphs,
            signature_defs=[self._signature(signature) for signature in model.signatures],
            metadata=[self._runtime_version()],
        )

    def _subgraph(self, graph: LiteGraph) -> tflite.SubGraphT:
        tensors = graph.tensors()
        names = _distinct([name_in_file(tensor.name) for tensor in tensors])
        return tflite.SubGraphT(
            name=graph.name,
            tensors=[self._tensor(tensor, name) for tensor, name in zip(tensors, names, strict=True)],
            inputs=self._places(graph.inputs),
            outputs=self._places(graph.outputs),
            operators=[self._operator(operator) for operator in graph],
        )

    def _operator(self, operator: LiteOperator) -> tflite.OperatorT:
        for field, graph in zip(operator.option_fields, operator.callees, strict=True):
            assert operator.options is not None
            setattr(operator.options, field, self._graph_indices[id(graph)])
        is_second = type(operator.options).__name__[:-1] in tflite.UNIONS["BuiltinOptions2"]
        return tflite.OperatorT(
            opcode_index=self._code(operator),
            inputs=self._places(operator.operands),
            outputs=self._places(operator.results),
            builtin_options=None if is_second else operator.options,
            builtin_options_2=operator.options if is_second else None,
            custom_options=operator.custom_options or None,
        )

    def _signature(self, signature: LiteSignature) -> tflite.SignatureDefT:
        graph = signature.graph
        return tflite.SignatureDefT(
            signature_key=signature.key,
            subgraph_index=self._graph_indices[id(graph)],
            inputs=self._map(signature.input_names, graph.inputs),
            outputs=self._map(signature.output_names, graph.outputs),
        )

    def _map(self, names: Sequence[str], tensors: Sequence[LiteTensor]) -> list[tflite.TensorMapT]:
        pairs = zip(names, tensors, strict=True)
        return [
            tflite.TensorMapT(name=name, tensor_index=self._indices[id(tensor)]) for name, tensor in pairs
        ]

    def _places(self, tensors: Sequence[LiteTensor | None]) -> list[int]:
        return [-1 if tensor is None else self._indices[id(tensor)] for tensor in tensors]

    def _tensor(self, tensor: LiteTensor, name: str) -> tflite.TensorT:
        shape = tensor.shape or ()
        return tflite.TensorT(
            name=name,
            type=tensor.type,
            shape=[1 if size == -1 else size for size in shape],
            shape_signature=list(shape) if -1 in shape else None,
            has_rank=tensor.shape is not None,
            quantization=tensor.quantization,
            is_variable=tensor.is_variable,
            buffer=0 if tensor.data is None else self._buffer(tensor.data, tensor.type),
        )

    def _buffer(self, data: np.ndarray, type: TensorType) -> int:
        """The buffer with those bytes: one for all constants that have them, whatever their shape."""
        content = constant_bytes(data, type)
        number = self._known.number(content)
        if number == len(self._buffer_indices):
            self._buffer_indices.append(len(self.contents))
            self.contents.append(content)
        return self._buffer_indices[number]

    def _code(self, operator: LiteOperator) -> int:
        key = (operator.code, operator.custom_code, version_of(operator))
        if key not in self._code_indices:
            self._code_indices[key] = len(self._codes)
            self._codes.append(operator_code(*key))
        return self._code_indices[key]

    def _runtime_version(self) -> tflite.MetadataT:
        self.contents.append(runtime_version_content(self._codes))
        return tflite.MetadataT(name=RUNTIME_VERSION, buffer=len(self.contents) - 1)


def runtime_version_content(codes: Iterable[tflite.OperatorCodeT]) -> np.ndarray:
    """The metadata RUNTIME_VERSION of a model with those operators, flat uint8."""
    text = runtime_version((code.builtin_code, code.version) for code in codes)
    return np.frombuffer(text.encode().ljust(_RUNTIME_VERSION_BYTES, b"\0"), np.uint8)


def constant_bytes(data: np.ndarray, type: TensorType) -> np.ndarray:
    """A constant's bytes, flat."""
    if type == TensorType.STRING:
        return pack_strings([bytes(item) for item in data.reshape(-1)])
    if type in PACKED_BITS:
        return packed(data.astype(np.int8), PACKED_BITS[type])
    flat = np.ascontiguousarray(data).reshape(-1)
    return flat.view(np.uint8) if flat.size else np.empty(0, np.uint8)


def _distinct(names: Sequence[str]) -> list[str]:
    """The names, with a number after those that were there before."""
    taken = set(names)
    seen: set[str] = set()
    result = []
    for name in names:
        number = 1
        while name in seen:
            candidate = f"{name}_{number}"
            number += 1
            if candidate not in taken:
                name = candidate
                taken.add(candidate)
        seen.add(name)
        result.append(name)
    return result
