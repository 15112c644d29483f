"""NumericVerify: how far a quantized tensor is from its float32 reference."""

from __future__ import annotations

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError, UnsupportedError
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import AllocationType, Tensor, TensorType
from .custom_options import FlexOptions
from .requantize import quantization_of

_NAME = "NumericVerify"
_TYPES = (TensorType.UINT8, TensorType.INT8, TensorType.INT16, TensorType.FLOAT16)
_LEAST_TOLERANCE = 0.1


def prepare(context: Context, node: Node) -> None:
    """y = x dequantized - reference: float32 whatever the file declares, and kept after the run.

    TensorFlow's debugger writes int8 results, and reads them when the whole model has run.

    With log_if_failed and a tolerance of 0.1 or more, a difference of more than tolerance
    quantization steps is an error.
    Source: LiteRT tflite/kernels/numeric_verify.cc.
    """
    if len(node.inputs) != 2 or len(node.outputs) != 1:
        raise PrepareError(
            f"{_NAME}: must have 2 inputs and 1 output, got {len(node.inputs)} and {len(node.outputs)}"
        )
    x, reference, y = context.input(node, 0), context.input(node, 1), context.output(node, 0)
    if x.type not in _TYPES:
        raise UnsupportedError(f"{_NAME}: input must be uint8, int8, int16 or float16, got {x!r}")
    if reference.type != TensorType.FLOAT32 or reference.shape != x.shape:
        raise PrepareError(f"{_NAME}: reference must be float32 of the input's shape, got {reference!r}")
    if not y.has_fixed_size:
        raise PrepareError(f"{_NAME}: output must be of numbers, got {y!r}")
    y.type = TensorType.FLOAT32
    y.allocation_type = AllocationType.ARENA_RW_PERSISTENT
    options = FlexOptions(node)
    tolerance = options.number("tolerance")
    checks = options.flag("log_if_failed") and tolerance >= _LEAST_TOLERANCE
    node.user_data = np.float32(tolerance) if checks else None
    context.resize_tensor(y, x.shape)


def _real(x: Tensor) -> np.ndarray:
    if x.type == TensorType.FLOAT16:
        return x.array().astype(np.float32)
    quantization = quantization_of(_NAME, x)
    count = len(quantization.scales)
    shape = [1] * len(x.shape)
    if count > 1:
        axis = quantization.quantized_dimension
        if not 0 <= axis < len(x.shape) or x.shape[axis] != count:
            raise InvokeError(f"{_NAME}: scales must be one or one a channel, got {count} for {x!r}")
        shape[axis] = count
    scales = np.asarray(quantization.scales, np.float64).reshape(shape)
    zero_points = np.broadcast_to(np.asarray(quantization.zero_points, np.int64), (count,)).reshape(shape)
    return np.asarray((x.array().astype(np.int64) - zero_points) * scales).astype(np.float32)


def invoke(context: Context, node: Node) -> None:
    x, tolerance = context.input(node, 0), node.user_data
    difference = _real(x) - context.input(node, 1).array()
    context.output(node, 0).array()[...] = difference
    if isinstance(tolerance, np.float32):
        scale = 0.0 if x.type == TensorType.FLOAT16 else quantization_of(_NAME, x).scale
        largest, most = np.abs(difference).max(initial=0), tolerance * np.float32(scale)
        if largest > most:
            raise InvokeError(f"{_NAME}: the input must be within {most} of its reference, got {largest}")


REGISTRATIONS = (Registration(_NAME, prepare, invoke),)
