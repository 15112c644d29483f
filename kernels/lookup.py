"""8- and 16-bit functions of one operand as tables of all results, made when the node is prepared."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..lite.context import Context
from ..lite.kernel_call import KernelCall, argument_block, chunk_count
from ..lite.tensor import Tensor, TensorType
from .requantize import quantization_of, round_half_away, scale_ratio

# Elements first to first + size are mapped; table holds 256 bytes or 65536 int16, indexed by the
# operand read as unsigned.
LOOKUP = argument_block("x y table first size")

# Whether all `size` elements of x are at least `lowest`.
AT_LEAST = argument_block("x size lowest")
TOO_LOW = 1  # its status where one is not

BYTE_TYPES = (TensorType.INT8, TensorType.UINT8)
TABLE_TYPES = (*BYTE_TYPES, TensorType.INT16)


def stored_values(x: Tensor) -> np.ndarray:
    """Every value that a tensor of TABLE_TYPES can hold (int64), in the table's order."""
    unsigned = np.uint16 if x.type == TensorType.INT16 else np.uint8
    return np.arange(np.iinfo(unsigned).max + 1, dtype=unsigned).view(x.dtype).astype(np.int64)


def type_range(tensor: Tensor) -> tuple[int, int]:
    """Lowest and highest value that an integer tensor can hold."""
    limits = np.iinfo(tensor.dtype)
    return int(limits.min), int(limits.max)


def lookup_call(
    context: Context, x: Tensor, y: Tensor, results: np.ndarray, first: int = 0, end: int | None = None
) -> list[KernelCall]:
    """The call that maps x's elements [first, end), or all of them.

    results are y's values (integers) in the table's order.
    """
    size = (x.size if end is None else end) - first
    if size == 0:
        return []
    limits = np.iinfo(y.dtype)
    table = np.clip(results, limits.min, limits.max).astype(y.dtype)
    args = np.zeros(1, LOOKUP)
    args["first"], args["size"] = first, size
    args["table"] = table.ctypes.data
    chunks = chunk_count(context, 0.3 * size)
    kernel = "lookup_16" if x.type == TensorType.INT16 else "lookup_8"
    return [KernelCall("lookup", kernel, args, {"x": x, "y": y}, chunks, keep=[table])]


def at_least_call(context: Context, x: Tensor, lowest: int, message: str) -> list[KernelCall]:
    """The call that fails with the message where a stored value of x (int8 or int16) is below lowest.

    None where the type has no such value.
    """
    if x.size == 0 or lowest <= type_range(x)[0]:
        return []
    args = np.zeros(1, AT_LEAST)
    args["size"], args["lowest"] = x.size, lowest
    chunks = chunk_count(context, 0.1 * x.size)
    kernel = "at_least_16" if x.type == TensorType.INT16 else "at_least_8"
    return [KernelCall("lookup", kernel, args, {"x": x}, chunks, messages={TOO_LOW: message})]


def function_table(
    operator: str, x: Tensor, y: Tensor, function: Callable[[np.ndarray], np.ndarray], half_even: bool
) -> np.ndarray:
    """Quantized results of a real function (of float32 arrays) for every value of x.

    With half_even, results are rounded after the zero point is added (XNNPACK); without, half
    away from zero before it is (TFLite's own tables). Values that do not fit y's type saturate.
    Source: XNNPACK src/operators/unary-elementwise-nc.c; LiteRT
    tflite/kernels/internal/common.h, LUTPopulate.
    """
    scale_ratio(operator, x, y)  # for its check
    x_quantization, y_quantization = quantization_of(operator, x), quantization_of(operator, y)
    offsets = (stored_values(x) - x_quantization.zero_point).astype(np.float32)
    with np.errstate(all="ignore"):
        reals = function(np.float32(x_quantization.scale) * offsets).astype(np.float32)
        scaled = reals * (np.float32(1) / np.float32(y_quantization.scale))
    scaled = np.clip(np.nan_to_num(scaled), np.float32(-(2**30)), np.float32(2**30))
    if half_even:
        return np.rint(scaled + np.float32(y_quantization.zero_point)).astype(np.int64)
    return round_half_away(scaled).astype(np.int64) + y_quantization.zero_point


_SEGMENTS = 512


def interpolated_table(
    operator: str, x: Tensor, y: Tensor, function: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """int16 results of a real function for every int16 x, by interpolation between 513 samples.

    Samples are moved by half the error in the middle of the segment that they begin.
    Source: LiteRT tflite/kernels/internal/common.h, LUTPopulateInt16 and LUTLookup.
    """
    scale_ratio(operator, x, y)
    p, q = quantization_of(operator, x), quantization_of(operator, y)
    x_scale, y_scale = np.float32(p.scale), np.float32(q.scale)
    first = x_scale * np.float32(-(1 << 15) - p.zero_point)
    last = x_scale * np.float32((1 << 15) - 1 - p.zero_point)
    low = y_scale * np.float32(-(1 << 15) - q.zero_point)
    high = y_scale * np.float32((1 << 15) - 1 - q.zero_point)
    samples = interpolation_samples(function, (first, last), np.float32(1 << 16) / (high - low))
    return interpolate(samples, stored_values(x))


def interpolation_samples(
    function: Callable[[np.ndarray], np.ndarray], ends: tuple[np.float32, np.float32], scale: np.floating
) -> np.ndarray:
    """513 samples (int64) of scale * function between two ends, in the precision of scale, saturated."""
    step = (ends[1] - ends[0]) / np.float32(_SEGMENTS)
    starts = ends[0] + np.arange(_SEGMENTS, dtype=np.float32) * step
    with np.errstate(all="ignore"):
        here, middle, following = (
            function(at).astype(scale.dtype) * scale
            for at in (
                starts,
                starts + step / np.float32(2),
                ends[0] + np.arange(1, 513, dtype=np.float32) * step,
            )
        )
        interpolated = round_half_away((following + round_half_away(here)) / np.float32(2))
        bias = round_half_away((interpolated - round_half_away(middle)) / np.float32(2))
        end = round_half_away(function(np.array([ends[1]], np.float32)).astype(scale.dtype) * scale)
        samples = np.concatenate([round_half_away(here) - bias, end])
    return np.clip(np.nan_to_num(samples, nan=0.0), -(1 << 15), (1 << 15) - 1).astype(np.int64)


def interpolate(samples: np.ndarray, stored: np.ndarray) -> np.ndarray:
    """Values between the samples, at int16 positions (given as int64); they wrap as int16 do."""
    index, offset = 256 + (stored >> 7), stored & 0x7F
    slope = (samples[index + 1] - samples[index]).astype(np.int16).astype(np.int64)
    values = samples[index] + ((slope * offset + 64) >> 7)
    return values.astype(np.int16).astype(np.int64)


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
