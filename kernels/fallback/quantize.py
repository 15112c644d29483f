"""QuantizeV2, Dequantize and QuantizeAndDequantize V1 to V4."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...schema import graph_def
from ..requantize import round_half_away
from .attributes import DataType
from .dtypes import QUANTIZED, numpy_dtype
from .quantized_range import floats_single, limits, number, quantized_single, scalar
from .registry import kernel
from .status import InvalidArgumentError

_OUTPUTS = frozenset((graph_def.DT_FLOAT, graph_def.DT_BFLOAT16))
_SINGLE_OR_DOUBLE = frozenset((graph_def.DT_FLOAT, graph_def.DT_DOUBLE))
_MODES = ("MIN_COMBINED", "MIN_FIRST", "SCALED")
_LARGEST = np.float32(np.finfo(np.float32).max)


def _ranges(
    op: str, x: np.ndarray, low: np.ndarray, high: np.ndarray, axis: int
) -> tuple[np.ndarray, np.ndarray]:
    """The ranges, scalars, or one for each slice along the axis, made to go with x."""
    if not -1 <= axis < x.ndim:
        raise InvalidArgumentError(f"{op}: axis must be -1 or one of {x.ndim}, got {axis}")
    if axis == -1:
        return number(scalar(op, "min_range", low)), number(scalar(op, "max_range", high))
    if low.shape != (x.shape[axis],) or high.shape != low.shape:
        message = f"min_range and max_range must have {x.shape[axis]} elements"
        raise InvalidArgumentError(f"{op}: {message}, got {list(low.shape)} and {list(high.shape)}")
    shape = (-1, *(1,) * (x.ndim - 1 - axis))
    return low.reshape(shape).astype(np.float32), high.reshape(shape).astype(np.float32)


def _check_mode(op: str, mode: str, axis: int) -> None:
    if mode not in _MODES or (axis != -1 and mode == "MIN_FIRST"):
        message = f"mode must be one of {', '.join(_MODES)}, the second without an axis"
        raise InvalidArgumentError(f"{op}: {message}, got {mode!r} and axis {axis}")


def quantize_v2(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    T: DataType,
    mode: str,
    round_mode: str,
    narrow_range: bool,
    axis: int,
    ensure_minimum_range: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, float32, as integers of T, and the range that they stand for, which contains 0.

    Ranges are scalars, or vectors along the axis.
    Source: TensorFlow tensorflow/core/kernels/quantize_op.cc.
    """
    op = "QuantizeV2"
    _check_mode(op, mode, axis)
    given = _ranges(op, x, low, high, axis)
    if not all(np.all(np.isfinite(end)) for end in given) or np.any(given[0] > given[1]):
        raise InvalidArgumentError(f"{op}: the range must ascend and be finite, got {low} to {high}")
    least, most = _with_zero(*given, ensure_minimum_range)
    dtype = numpy_dtype(T)
    if mode == "SCALED":
        even = round_mode == "HALF_TO_EVEN"
        y, least, most = _scaled(x, least, most, dtype, narrow_range, even)
    elif round_mode == "HALF_TO_EVEN":
        raise InvalidArgumentError(f"{op}: round mode HALF_TO_EVEN must go with mode SCALED, got {mode}")
    elif mode == "MIN_FIRST":
        y = quantized_single(x, float(least), float(most), dtype)
    else:
        y = _combined(x, least, most, dtype)
    return y, np.asarray(least.reshape(low.shape)), np.asarray(most.reshape(high.shape))


def _with_zero(low: np.ndarray, high: np.ndarray, minimum: float) -> tuple[np.ndarray, np.ndarray]:
    """The range with 0 in it, widened to the minimum times the greatest number, or 1, in it."""
    least = np.minimum(np.float32(0), low)
    reach = np.maximum(np.float32(1), np.maximum(np.abs(low), np.abs(high)))
    return least, np.maximum(0, np.maximum(high, least + reach * np.float32(minimum)))


def _combined(x: np.ndarray, least: np.ndarray, most: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Equal steps from the least to the most."""
    lowest, highest = limits(dtype)
    scale = np.float32(highest - lowest) / (most - least)
    half = np.float32((highest - lowest + 1) // 2 if lowest < 0 else 0)
    steps = round_half_away((np.clip(x, least, most) - least) * scale - half)
    return _converted(steps, dtype)


def _converted(steps: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Whole steps as integers; what is above those of 32 bits is the lowest, as x86 converts it."""
    lowest, highest = limits(dtype)
    wide = steps.astype(np.float64)
    above = lowest if dtype.itemsize == 4 else highest
    return np.where(wide > highest, above, np.clip(wide, lowest, highest)).astype(dtype)


def _scaled(
    x: np.ndarray, least: np.ndarray, most: np.ndarray, dtype: np.dtype, narrow_range: bool, even: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Multiples of one number: 0 is 0. The range is widened to what the type can hold."""
    lowest, highest = limits(dtype)
    lowest += narrow_range
    below = np.where(lowest * least > 0, np.float32(lowest) / least, _LARGEST)
    above = np.where(highest * most > 0, np.float32(highest) / most, _LARGEST)
    scale = np.minimum(below, above).astype(np.float32)
    least, most = np.float32(lowest) / scale, np.float32(highest) / scale
    # A range of nothing has the largest scale; TensorFlow has no denormal numbers.
    least = np.where(np.abs(least) < np.finfo(np.float32).tiny, np.float32(0), least)
    steps = np.clip(x, least, most) * scale
    steps = np.rint(steps) if even else round_half_away(steps)
    y = _converted(steps, dtype)
    return y, np.asarray(least), np.asarray(most)


def dequantize(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    mode: str,
    narrow_range: bool,
    axis: int,
    dtype: DataType,
) -> np.ndarray:
    """What integers x stand for, of the type dtype. Ranges as in QuantizeV2.

    Source: TensorFlow tensorflow/core/kernels/dequantize_op.cc.
    """
    op = "Dequantize"
    _check_mode(op, mode, axis)
    least, most = _ranges(op, x, low, high, axis)
    lowest, highest = limits(x.dtype)
    if mode == "MIN_FIRST":
        y = floats_single(x, float(least), float(most))
    elif mode == "MIN_COMBINED":
        scale = (most - least) / np.float32(highest - lowest)
        half = np.float32((highest - lowest + 1) / 2 if lowest < 0 else 0)
        y = (x.astype(np.float32) + half) * scale + least
    else:
        start = lowest + narrow_range
        scale = most / np.float32(highest)
        if start < 0:
            scale = np.maximum(least / np.float32(start), scale)
        y = x.astype(np.float32) * scale
    return np.asarray(y).astype(numpy_dtype(dtype))


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """How many steps a range has, and how x is rounded to them; what an op does not have is as usual."""

    signed_input: bool
    range_given: bool
    num_bits: int = 8
    narrow_range: bool = False
    axis: int = -1
    round_mode: str = "HALF_TO_EVEN"


def _simulated(op: str, x: np.ndarray, low: np.ndarray, high: np.ndarray, how: Simulation) -> np.ndarray:
    """x rounded to the multiples that so many bits can hold, from low to high; not held there
    unless the range is given."""
    if how.round_mode not in ("HALF_TO_EVEN", "HALF_UP"):
        message = "round_mode must be HALF_TO_EVEN or HALF_UP"
        raise InvalidArgumentError(f"{op}: {message}, got {how.round_mode!r}")
    low, high = _range_of(op, x, low, high, how.range_given, how.axis)
    if not 1 <= how.num_bits <= 63 or (how.signed_input and how.num_bits < 2):
        message = f"num_bits must be from {1 + how.signed_input} to 63"
        raise InvalidArgumentError(f"{op}: {message}, got {how.num_bits}")
    if np.any(low > high):
        raise InvalidArgumentError(f"{op}: input_min must not be above input_max, got {low} and {high}")
    half = 1 << (how.num_bits - 1)
    least, most = (-half, half - 1) if how.signed_input else (0, 2 * half - 1)
    return _stepped(x, low, high, (least + (how.signed_input and how.narrow_range), most), how)


def _stepped(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, steps_of: tuple[int, int], how: Simulation
) -> np.ndarray:
    """x as whole numbers of steps, which are of one size and from the least to the most of steps_of.

    Source: TensorFlow tensorflow/core/kernels/quantize_and_dequantize_op.h.
    """
    least, most = steps_of
    kind = x.dtype.type
    infinite = kind(np.finfo(x.dtype).max)
    below = np.where(least * low > 0, kind(least) / low, infinite)
    above = np.where(most * high > 0, kind(most) / high, infinite)
    # The side that needs more of the range says how much a step is.
    by_low = below < above
    scale = np.where(by_low, below, above)
    inverse = np.where(by_low, low / kind(least or 1), high / kind(most))
    if how.range_given:
        ends = np.where(by_low, low, least * inverse), np.where(by_low, most * inverse, high)
        x = np.maximum(np.minimum(x, ends[1]), ends[0])
    steps = x * scale
    steps = np.floor(steps + kind(0.5)) if how.round_mode == "HALF_UP" else np.rint(steps)
    return (steps * inverse).astype(x.dtype)


def _range_of(
    op: str, x: np.ndarray, low: np.ndarray, high: np.ndarray, range_given: bool, axis: int
) -> tuple[np.ndarray, np.ndarray]:
    """The range that is given, or x's own; scalars, or by slices along the axis."""
    if not -1 <= axis < x.ndim:
        raise InvalidArgumentError(f"{op}: axis must be -1 or one of {x.ndim}, got {axis}")
    if axis == -1:
        if range_given:
            kind = x.dtype.type
            ends = scalar(op, "input_min", low), scalar(op, "input_max", high)
            return np.asarray(kind(ends[0])), np.asarray(kind(ends[1]))
        if not x.size:
            return (np.zeros((), x.dtype),) * 2
        return np.asarray(np.fmin.reduce(x, None)), np.asarray(np.fmax.reduce(x, None))
    shape = (-1, *(1,) * (x.ndim - 1 - axis))
    if not range_given:
        others = tuple(other for other in range(x.ndim) if other != axis)
        if not x.size:
            return (np.zeros(x.shape[axis], x.dtype).reshape(shape),) * 2
        return np.fmin.reduce(x, others).reshape(shape), np.fmax.reduce(x, others).reshape(shape)
    if low.shape != (x.shape[axis],) or high.shape != low.shape:
        message = f"input_min and input_max must have {x.shape[axis]} elements"
        raise InvalidArgumentError(f"{op}: {message}, got {list(low.shape)} and {list(high.shape)}")
    return low.astype(x.dtype).reshape(shape), high.astype(x.dtype).reshape(shape)


def quantize_and_dequantize(
    x: np.ndarray, *, simulation: Simulation, input_min: float, input_max: float
) -> np.ndarray:
    """V2, the range being attributes."""
    return _simulated("QuantizeAndDequantize", x, number(input_min), number(input_max), simulation)


def quantize_and_dequantize_v2(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, *, simulation: Simulation
) -> np.ndarray:
    """x as if quantized to so many bits and back; from low to high, or as far as x goes."""
    return _simulated("QuantizeAndDequantizeV2", x, low, high, simulation)


def quantize_and_dequantize_v3(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, num_bits: np.ndarray, *, simulation: Simulation
) -> np.ndarray:
    """V2, num_bits being a tensor and halves going to even numbers."""
    op = "QuantizeAndDequantizeV3"
    bits = int(scalar(op, "num_bits", num_bits))
    return _simulated(op, x, low, high, replace(simulation, num_bits=bits))


def quantize_and_dequantize_v4_gradient(
    gradient: np.ndarray, x: np.ndarray, low: np.ndarray, high: np.ndarray, *, axis: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """gradient times whether x is from low to high, 0 or 1; zeros for low and high."""
    op = "QuantizeAndDequantizeV4Grad"
    if gradient.shape != x.shape:
        message = "gradients and input must have one shape"
        raise InvalidArgumentError(f"{op}: {message}, got {list(gradient.shape)} and {list(x.shape)}")
    ends = _range_of(op, x, low, high, True, axis)
    with np.errstate(invalid="ignore"):
        dx = gradient * ((x >= ends[0]) & (x <= ends[1]))
    return dx, np.zeros(low.shape, x.dtype), np.zeros(high.shape, x.dtype)


REGISTRATIONS = (
    kernel("QuantizeV2", quantize_v2, T=QUANTIZED),
    kernel("Dequantize", dequantize, T=QUANTIZED, dtype=_OUTPUTS),
    kernel("QuantizeAndDequantize", quantize_and_dequantize, T=_SINGLE_OR_DOUBLE),
    kernel("QuantizeAndDequantizeV2", quantize_and_dequantize_v2, T=_SINGLE_OR_DOUBLE),
    kernel("QuantizeAndDequantizeV3", quantize_and_dequantize_v3, T=_SINGLE_OR_DOUBLE),
    kernel("QuantizeAndDequantizeV4", quantize_and_dequantize_v2, T=_SINGLE_OR_DOUBLE),
    kernel("QuantizeAndDequantizeV4Grad", quantize_and_dequantize_v4_gradient, T=_SINGLE_OR_DOUBLE),
)
