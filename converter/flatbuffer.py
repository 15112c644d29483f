"""A LiteGraph as a .tflite file."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from ..schema import tflite
from ..schema.operator_code import operator_code
from .lite_graph import LiteGraph, LiteTensor
from .operator_version import version_of

# The name under which a model without signatures of its own can be called.
SIGNATURE = "serving_default"


def model_bytes(graph: LiteGraph, input_names: Sequence[str], output_names: Sequence[str]) -> bytes:
    """The file; input and output names are those of the signature."""
    writer = _ModelWriter(graph)
    signature = tflite.SignatureDefT(
        signature_key=SIGNATURE,
        inputs=writer.names(input_names, graph.inputs),
        outputs=writer.names(output_names, graph.outputs),
    )
    model = tflite.ModelT(
        version=3,
        description="numlite converter",
        operator_codes=writer.codes,
        subgraphs=[writer.subgraph],
        buffers=writer.buffers,
        signature_defs=[signature],
    )
    return tflite.pack(model)


class _ModelWriter:
    """Numbers tensors, buffers and operator codes."""

    def __init__(self, graph: LiteGraph) -> None:
        self.codes: list[tflite.OperatorCodeT] = []
        self.buffers = [tflite.BufferT()]
        self._code_indices: dict[tuple[int, int], int] = {}
        self._buffer_indices: dict[bytes, int] = {}
        tensors = list(graph.tensors())
        self._indices = {id(tensor): i for i, tensor in enumerate(tensors)}
        names = _distinct([tensor.name for tensor in tensors])
        self.subgraph = tflite.SubGraphT(
            name="main",
            tensors=[self._tensor(tensor, name) for tensor, name in zip(tensors, names, strict=True)],
            inputs=[self._index(tensor) for tensor in graph.inputs],
            outputs=[self._index(tensor) for tensor in graph.outputs],
            operators=[
                tflite.OperatorT(
                    opcode_index=self._code(operator.code, version_of(operator)),
                    inputs=[self._index(tensor) for tensor in operator.inputs],
                    outputs=[self._index(tensor) for tensor in operator.outputs],
                    builtin_options=operator.options,
                )
                for operator in graph.operators
            ],
        )

    def names(self, names: Sequence[str], tensors: Sequence[LiteTensor]) -> list[tflite.TensorMapT]:
        pairs = zip(names, tensors, strict=True)
        return [tflite.TensorMapT(name=name, tensor_index=self._index(tensor)) for name, tensor in pairs]

    def _index(self, tensor: LiteTensor | None) -> int:
        return -1 if tensor is None else self._indices[id(tensor)]

    def _tensor(self, tensor: LiteTensor, name: str) -> tflite.TensorT:
        shape = tensor.shape or ()
        return tflite.TensorT(
            name=name,
            type=tensor.type,
            shape=[1 if size == -1 else size for size in shape],
            shape_signature=list(shape) if -1 in shape else None,
            has_rank=tensor.shape is not None,
            buffer=0 if tensor.data is None else self._buffer(tensor.data),
        )

    def _buffer(self, data: np.ndarray) -> int:
        """The buffer with those bytes: one for all constants that have them, whatever their shape."""
        content = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
        digest = blake2b(content.data).digest()
        if digest not in self._buffer_indices:
            self._buffer_indices[digest] = len(self.buffers)
            self.buffers.append(tflite.BufferT(data=content))
        return self._buffer_indices[digest]

    def _code(self, code: int, version: int) -> int:
        if (code, version) not in self._code_indices:
            self._code_indices[code, version] = len(self.codes)
            self.codes.append(operator_code(code, version=version))
        return self._code_indices[code, version]


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
