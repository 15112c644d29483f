"""ModelBuilder: .tflite models for tests, an operator at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numlite.schema import tflite
from numlite.schema.objects import TableT
from numlite.schema.operator_code import operator_code

TYPES = {
    "float32": tflite.TensorType.FLOAT32,
    "float16": tflite.TensorType.FLOAT16,
    "int32": tflite.TensorType.INT32,
    "uint8": tflite.TensorType.UINT8,
    "int64": tflite.TensorType.INT64,
    "bool": tflite.TensorType.BOOL,
    "int16": tflite.TensorType.INT16,
    "complex64": tflite.TensorType.COMPLEX64,
    "int8": tflite.TensorType.INT8,
    "float64": tflite.TensorType.FLOAT64,
    "complex128": tflite.TensorType.COMPLEX128,
    "uint64": tflite.TensorType.UINT64,
    "uint32": tflite.TensorType.UINT32,
    "uint16": tflite.TensorType.UINT16,
}

Signatures = Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]]


class SubgraphBuilder:
    """Tensors and operators of one subgraph; buffers and operator codes go to the model."""

    def __init__(self, model: tflite.ModelT, name: str) -> None:
        self.model = model
        self.subgraph = tflite.SubGraphT(name=name, tensors=[], operators=[], inputs=[], outputs=[])
        self.index = len(model.subgraphs)
        model.subgraphs.append(self.subgraph)

    def tensor(
        self,
        shape: Sequence[int],
        dtype: np.dtype | type | str | tflite.TensorType = np.float32,
        data: np.ndarray | bytes | None = None,
        *,
        scale: float | Sequence[float] | None = None,
        zero_point: int | Sequence[int] | None = None,
        quantized_dimension: int = 0,
        name: str | None = None,
        is_variable: bool = False,
        shape_signature: Sequence[int] | None = None,
    ) -> int:
        """Add a tensor, constant when it has data, and return its index.

        dtype is NumPy's, or a TensorType for those that NumPy lacks (data are then bytes).
        Several scales are per index of quantized_dimension; one zero_point serves them all.
        """
        type_code = dtype if isinstance(dtype, tflite.TensorType) else TYPES[np.dtype(dtype).name]
        tensors = self.subgraph.tensors
        tensors.append(
            tflite.TensorT(
                shape=list(shape),
                type=type_code,
                buffer=0 if data is None else self._buffer(shape, dtype, data),
                name=name or f"t{len(tensors)}",
                quantization=_quantization(scale, zero_point, quantized_dimension),
                is_variable=is_variable,
                shape_signature=shape_signature,
                has_rank=True,
            )
        )
        return len(tensors) - 1

    def constant(self, data: np.ndarray | Sequence[int], **quantization: object) -> int:
        """Add a constant of an array's own shape and type; plain lists of int become int32."""
        array = data if isinstance(data, np.ndarray) else np.array(data, np.int32)
        return self.tensor(array.shape, array.dtype, array, **quantization)

    def op(
        self,
        code: tflite.BuiltinOperator,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: TableT | None = None,
        version: int = 1,
        custom_code: str | None = None,
        custom_options: bytes = b"",
        intermediates: Sequence[int] = (),
    ) -> None:
        """Add an operator; -1 among the inputs is an optional one left out."""
        second = options is not None and type(options).__name__[:-1] in tflite.UNIONS["BuiltinOptions2"]
        self.subgraph.operators.append(
            tflite.OperatorT(
                opcode_index=self._opcode(code, custom_code, version),
                inputs=list(inputs),
                outputs=list(outputs),
                builtin_options=None if second else options,
                builtin_options_2=options if second else None,
                custom_options=custom_options or None,
                intermediates=list(intermediates) or None,
            )
        )

    def finish(self, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Say which tensors are the subgraph's inputs and outputs."""
        self.subgraph.inputs = list(inputs)
        self.subgraph.outputs = list(outputs)

    def _buffer(self, shape: Sequence[int], dtype: object, data: np.ndarray | bytes) -> int:
        if not isinstance(data, bytes):
            if isinstance(dtype, tflite.TensorType):
                raise TypeError(f"data of {dtype.name} must be bytes, got {type(data).__name__}")
            data = np.broadcast_to(np.asarray(data, dtype), shape).tobytes()
        self.model.buffers.append(tflite.BufferT(data=data))
        return len(self.model.buffers) - 1

    def _opcode(self, code: int, custom_code: str | None, version: int) -> int:
        wanted = (code, custom_code, version)
        for i, entry in enumerate(self.model.operator_codes):
            if (entry.builtin_code, entry.custom_code, entry.version) == wanted:
                return i
        self.model.operator_codes.append(operator_code(code, custom_code, version))
        return len(self.model.operator_codes) - 1


class ModelBuilder(SubgraphBuilder):
    """A model and its main subgraph."""

    def __init__(self) -> None:
        model = tflite.ModelT(version=3, subgraphs=[], operator_codes=[], buffers=[tflite.BufferT()])
        super().__init__(model, "main")

    def add_subgraph(self, name: str) -> SubgraphBuilder:
        """Another subgraph (its number is .index); finish() it."""
        return SubgraphBuilder(self.model, name)

    def build(
        self, inputs: Sequence[int], outputs: Sequence[int], signatures: Signatures | None = None
    ) -> bytes:
        """The file. signatures: key -> ({name: input tensor}, {name: output tensor})."""
        self.finish(inputs, outputs)
        self.model.signature_defs = [
            tflite.SignatureDefT(signature_key=key, inputs=_names(taken), outputs=_names(given))
            for key, (taken, given) in (signatures or {}).items()
        ]
        return tflite.pack(self.model)


def _names(tensors: Mapping[str, int]) -> list[tflite.TensorMapT]:
    return [tflite.TensorMapT(name=name, tensor_index=index) for name, index in tensors.items()]


def _quantization(
    scale: float | Sequence[float] | None, zero_point: int | Sequence[int] | None, dimension: int
) -> tflite.QuantizationParametersT | None:
    if scale is None:
        return None
    scales = np.atleast_1d(np.asarray(scale, np.float32))
    zero_points = np.broadcast_to(np.asarray(zero_point or 0, np.int64), scales.shape)
    return tflite.QuantizationParametersT(
        scale=scales, zero_point=np.ascontiguousarray(zero_points), quantized_dimension=dimension
    )
