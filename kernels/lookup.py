"""8-bit functions of one operand as tables of 256 results, made when the node is prepared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall
from ..lite.tensor import Tensor, TensorType
from .parallel import chunk_count
from .requantize import quantization_of

# table holds 256 bytes, indexed by the operand's byte read as unsigned.
LOOKUP = np.dtype([("x", np.int64), ("y", np.int64), ("table", np.int64), ("size", np.int64)], align=True)

BYTE_TYPES = (TensorType.INT8, TensorType.UINT8)


def stored_values(x: Tensor) -> np.ndarray:
    """Every value that an 8-bit tensor can hold (int64), in the table's order."""
    return np.arange(256, dtype=np.uint8).view(x.dtype).astype(np.int64)


def lookup_call(context: Context, x: Tensor, y: Tensor, results: np.ndarray) -> list[KernelCall]:
    """The call that maps each element of x; results are y's values (integers) in the table's order."""
    if x.size == 0:
        return []
    limits = np.iinfo(y.dtype)
    table = np.clip(results, limits.min, limits.max).astype(y.dtype)
    args = np.zeros(1, LOOKUP)
    args["size"] = x.size
    args["table"] = table.ctypes.data
    chunks = chunk_count(context, 0.3 * x.size)
    return [KernelCall("lookup", "lookup_8", args, {"x": x, "y": y}, chunks, keep=[table])]


def function_table(
    operator: str, x: Tensor, y: Tensor, function: Callable[[np.ndarray], np.ndarray], half_even: bool
) -> np.ndarray:
    """Quantized results of a real function (of float32 arrays) for every value of x.

    With half_even, results are rounded after the zero point is added (XNNPACK); without, half
    away from zero before it is (TFLite's own tables). Values that do not fit y's type saturate.
    Source: XNNPACK src/operators/unary-elementwise-nc.c; LiteRT
    tflite/kernels/internal/common.h, LUTPopulate.
    """
    x_quantization, y_quantization = quantization_of(operator, x), quantization_of(operator, y)
    offsets = (stored_values(x) - x_quantization.zero_point).astype(np.float32)
    with np.errstate(all="ignore"):
        reals = function(np.float32(x_quantization.scale) * offsets).astype(np.float32)
        scaled = reals * (np.float32(1) / np.float32(y_quantization.scale))
    scaled = np.clip(np.nan_to_num(scaled), np.float32(-(2**30)), np.float32(2**30))
    if half_even:
        return np.rint(scaled + np.float32(y_quantization.zero_point)).astype(np.int64)
    rounded = np.copysign(np.floor(np.abs(scaled.astype(np.float64)) + 0.5), scaled)
    return rounded.astype(np.int64) + y_quantization.zero_point


def multiply_by_quantized_multiplier(x: np.ndarray, multiplier: int, shift: int) -> np.ndarray:
    """x (int64) * multiplier * 2**(shift - 31): both steps round half away from zero.

    The array form of kernels/compiled/requantize.py's function, for tables.
    """
    high = ((x << max(shift, 0)) * multiplier + (1 << 30)) >> 31
    return round_half_away_shift(high, max(-shift, 0))


def round_half_away_shift(x: np.ndarray, right: int) -> np.ndarray:
    """x / 2**right of integers, rounded half away from zero."""
    mask = (1 << right) - 1
    return (x >> right) + ((x & mask) > (mask >> 1) + (x < 0))


def multiply_rounding_up(x: np.ndarray, multiplier: int, shift: int) -> np.ndarray:
    """Like multiply_by_quantized_multiplier, but the second step takes ties upwards."""
    high = ((x << max(shift, 0)) * multiplier + (1 << 30)) >> 31
    right = max(-shift, 0)
    return (high + ((1 << right) >> 1)) >> right
