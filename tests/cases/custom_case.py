"""Models of one custom operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from flatbuffers import flexbuffers
from numlite.schema.tflite import BuiltinOperator, TensorType

from ..model_builder import ModelBuilder

Shapes = Sequence[tuple[tuple[int, ...], type | TensorType]]


def custom_model(
    name: str,
    inputs: Sequence[np.ndarray],
    outputs: Shapes,
    options: Mapping[str, object] | bytes,
    constants: Sequence[np.ndarray] = (),
    quantization: Sequence[Mapping[str, object]] = (),
) -> bytes:
    """The inputs (strings as objects), then the constants; quantization is of the inputs."""
    model = ModelBuilder()
    quantized = [*quantization, *[{}] * len(inputs)]
    sources = [
        model.tensor(x.shape, TensorType.STRING if x.dtype == object else x.dtype, **q)
        for x, q in zip(inputs, quantized, strict=False)
    ]
    held = [model.constant(constant) for constant in constants]
    results = [model.tensor(shape, dtype) for shape, dtype in outputs]
    stored = options if isinstance(options, bytes) else bytes(flexbuffers.Dumps(dict(options)))
    model.op(
        BuiltinOperator.CUSTOM,
        [*sources, *held],
        results,
        custom_code=name,
        custom_options=stored,
    )
    return model.build(sources, results)


def structure(*fields: int) -> bytes:
    """A C structure of int32 fields; TfLitePadding is 1 for SAME, 2 for VALID."""
    return np.array(fields, "<i4").tobytes()
