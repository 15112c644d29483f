"""Numbers of quantized tensors: what a range of floats makes of integers, and back.

Source: TensorFlow tensorflow/core/kernels/quantization_utils.h.
"""

from __future__ import annotations

import numpy as np

from ..requantize import round_half_away
from .status import InvalidArgumentError


def limits(dtype: np.dtype) -> tuple[int, int]:
    """The lowest and the highest integer of the type."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def scalar(op: str, what: str, value: np.ndarray) -> float:
    """A float given as a tensor of one element."""
    if value.size != 1:
        raise InvalidArgumentError(f"{op}: {what} must be one number, got {list(value.shape)}")
    return float(value.reshape(-1)[0])


def checked_range(op: str, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """A range given as two tensors of one element; it may be empty but not turned round."""
    least, most = scalar(op, "min", low), scalar(op, "max", high)
    if not (least <= most and np.isfinite(least) and np.isfinite(most)):
        raise InvalidArgumentError(f"{op}: the range must ascend and be finite, got {least} to {most}")
    return least, most


def _wider(low: float, high: float, dtype: np.dtype) -> tuple[float, float]:
    """How wide the range and one step more is, of the float32 low and high, and how many steps that are."""
    steps = float(1 << (8 * dtype.itemsize))
    return float(np.float32(high) - np.float32(low)) * (steps / (steps - 1.0)), steps


def quantized_unclamped(x: np.ndarray | float, low: float, high: float, dtype: np.dtype) -> np.ndarray:
    """x as integers, float64, that may be outside of the type; zeros for an empty range."""
    wide = np.asarray(x, np.float64)
    if low == high:
        return np.zeros(wide.shape)
    width, steps = _wider(low, high, dtype)
    scale = steps / width
    lowest = limits(dtype)[0]
    return np.asarray(round_half_away(wide * scale) - round_half_away(np.asarray(low * scale)) + lowest)


def quantized(x: np.ndarray | float, low: float, high: float, dtype: np.dtype) -> np.ndarray:
    """x, floats, as integers of the type that stand for low to high."""
    return np.clip(quantized_unclamped(x, low, high, dtype), *limits(dtype)).astype(dtype)


def floats(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """What the integers x stand for, float32."""
    if low == high:
        return np.full(x.shape, low, np.float32)
    width, steps = _wider(low, high, x.dtype)
    step = width / steps
    # What the first integer stands for is found in float32.
    single = np.float32(step)
    start = float(round_half_away(np.asarray(np.float32(low) / single)) * single)
    return (start + (x.astype(np.float64) - limits(x.dtype)[0]) * step).astype(np.float32)


def quantized_single(x: np.ndarray, low: float, high: float, dtype: np.dtype) -> np.ndarray:
    """quantized() in float32 throughout, as some ops compute it: 32-bit integers are coarse then.

    Source: quantization_utils.h, FloatToQuantizedStruct.
    """
    steps = float(1 << (8 * dtype.itemsize)) - 1.0
    lowest, highest = limits(dtype)
    scale = np.float32(0 if high == low else steps / float(np.float32(high) - np.float32(low)))
    start = np.float32(round_half_away(np.asarray(np.float32(low) * scale))) - np.float32(lowest)
    found = round_half_away(x.astype(np.float32) * scale).astype(np.float32) - start
    return np.clip(found.astype(np.float64), lowest, min(highest, 2147483520)).astype(dtype)


def floats_single(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """floats() in float32 throughout.

    Source: quantization_utils.h, QuantizedToFloatStruct.
    """
    steps = float(1 << (8 * x.dtype.itemsize)) - 1.0
    scale = np.float32(float(np.float32(high) - np.float32(low)) / steps)
    start = np.float32(low)
    if low != high:
        start = np.float32(round_half_away(np.asarray(start / scale))) * scale
    offset = start - np.float32(limits(x.dtype)[0]) * scale
    return np.asarray(offset + x.astype(np.float32) * scale)


def level(low: float, high: float, dtype: np.dtype) -> np.float32:
    """The step between integers where the type's range is symmetric: -127 to 127 for 8 bits."""
    lowest, highest = limits(dtype)
    return np.float32(np.float32(high) - np.float32(low)) / np.float32(highest - max(lowest, -highest))


def product_range(
    a: tuple[float, float, np.dtype], b: tuple[float, float, np.dtype], out: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """The range of products of two tensors, each (low, high, type), as integers of the type out."""
    one = level(*a) * level(*b)
    lowest, highest = limits(out)
    return np.asarray(one * np.float32(lowest)), np.asarray(one * np.float32(highest))


def number(value: float) -> np.ndarray:
    """A float32 scalar."""
    return np.array(value, np.float32)
