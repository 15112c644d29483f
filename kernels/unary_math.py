"""SIGN, GELU and FAKE_QUANT: the checks, and their kernels and tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from ..lite.context import Context
from ..lite.errors import PrepareError, UnsupportedError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.tensor import Tensor, TensorType
from .array_function import invoke_function
from .elementwise import UNARY, same_shape, unary_call
from .lookup import BYTE_TYPES, function_table, interpolated_table, lookup_call
from .operators import registration

# y = round((clamp(x, low, high) - low) * inverse_scale) * scale + low
FAKE_QUANT = np.dtype(
    [
        *((name, np.int64) for name in ("x", "y", "size")),
        *((name, np.float32) for name in ("low", "high", "scale", "inverse_scale")),
    ],
    align=True,
)
_MAX_BITS = 16

_HALF, _ONE = np.float32(0.5), np.float32(1)


def _prepare_sign(context: Context, node: Node) -> Sequence[KernelCall] | None:
    x, y = same_shape(context, node, "SIGN")
    if x.type == TensorType.FLOAT64:
        return None
    suffixes = {TensorType.FLOAT32: "f32", TensorType.INT32: "i32"}
    if x.type not in suffixes:
        raise UnsupportedError(f"SIGN: types built are float32, float64 and int32, got {x.type_name}")
    kernel = f"sign_{suffixes[TensorType(x.type)]}"
    return unary_call(context, "unary_math", kernel, x, y, np.zeros(1, UNARY), 0.1)


def _gelu_exact(x: np.ndarray) -> np.ndarray:
    scaled = (x * np.float32(math.sqrt(0.5))).ravel()
    erf = np.array([math.erf(value) for value in scaled.tolist()], np.float32).reshape(x.shape)
    return _HALF * x * (_ONE + erf)


def _gelu_approximate(x: np.ndarray) -> np.ndarray:
    inner = np.float32(math.sqrt(2 / math.pi)) * (x + np.float32(0.044715) * x * x * x)
    return _HALF * x * (_ONE + np.tanh(inner.astype(np.float64)).astype(np.float32))


def _table(x: Tensor, y: Tensor, function: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    if x.type == TensorType.INT16:
        return interpolated_table("GELU", x, y, function)
    return function_table("GELU", x, y, function, half_even=False)


def _prepare_gelu(context: Context, node: Node) -> Sequence[KernelCall]:
    x, y = same_shape(context, node, "GELU")
    approximate = node.options is not None and bool(node.options.approximate)
    if x.type in (*BYTE_TYPES, TensorType.INT16):
        return lookup_call(context, x, y, _table(x, y, _gelu_approximate if approximate else _gelu_exact))
    if x.type != TensorType.FLOAT32:
        raise UnsupportedError(f"GELU: types built are float32, int8, uint8 and int16, got {x.type_name}")
    kernel = "gelu_approximate_f32" if approximate else "gelu_f32"
    return unary_call(context, "unary_math", kernel, x, y, np.zeros(1, UNARY), 1)


def _prepare_fake_quant(context: Context, node: Node) -> Sequence[KernelCall]:
    """Source: LiteRT tflite/kernels/internal/quantization_util.cc, NudgeQuantizationRange."""
    x, y = same_shape(context, node, "FAKE_QUANT")
    if x.type != TensorType.FLOAT32:
        raise UnsupportedError(f"FAKE_QUANT: float32 is built, got {x.type_name}")
    options = node.options
    if (
        options is None
        or not 1 <= options.num_bits <= _MAX_BITS
        or not -np.inf < options.min < options.max < np.inf
    ):
        given = options and (options.min, options.max, options.num_bits)
        raise PrepareError(
            f"FAKE_QUANT: min must be under max, both finite, and num_bits in [1, {_MAX_BITS}], got {given}"
        )
    low_level, high_level = int(bool(options.narrow_range)), (1 << options.num_bits) - 1
    low, high = np.float32(options.min), np.float32(options.max)
    scale = (high - low) / np.float32(high_level - low_level)
    real_zero = np.float32(low_level) - low / scale
    zero = np.float32(min(max(math.floor(real_zero + 0.5), low_level), high_level))
    args = np.zeros(1, FAKE_QUANT)
    args["low"] = (np.float32(low_level) - zero) * scale
    args["high"] = (np.float32(high_level) - zero) * scale
    args["scale"], args["inverse_scale"] = scale, _ONE / scale
    return unary_call(context, "unary_math", "fake_quant_f32", x, y, args, 0.3)


def _invoke_sign(context: Context, node: Node) -> None:
    invoke_function("SIGN", np.sign, context, node)


REGISTRATIONS = (
    registration("SIGN", _prepare_sign, _invoke_sign),
    registration("GELU", _prepare_gelu),
    registration("FAKE_QUANT", _prepare_fake_quant),
)
