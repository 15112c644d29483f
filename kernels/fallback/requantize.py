"""Requantize and its kin: 32-bit integers brought to a smaller range."""

from __future__ import annotations

import numpy as np

from ..requantize import round_half_away
from .attributes import DataType
from .binary import larger
from .dtypes import QUANTIZED, numpy_dtype
from .quantized_range import checked_range, floats, limits, number, quantized, scalar
from .registry import kernel
from .status import InvalidArgumentError

# Binary places of the fixed-point numbers.
_PLACES = 16


def _requantized(
    x: np.ndarray, old: tuple[float, float], new: tuple[float, float], dtype: np.dtype
) -> np.ndarray:
    """x, integers that stand for the old range, as integers of the type that stand for the new one.

    32 to 8 bits unsigned is done in fixed point.
    Source: TensorFlow tensorflow/core/kernels/quantization_utils.h, RequantizeManyInNewRange.
    """
    if x.dtype != np.int32 or dtype != np.uint8:
        return quantized(floats(x, *old), *new, dtype)
    width = np.float32(new[1]) - np.float32(new[0])
    if width == 0:
        return np.zeros(x.shape, dtype)
    low, high = np.float32(old[0]), np.float32(old[1])
    inverse = np.float32(255.0 / float(width))
    middle = np.float32((float(low) + float(high)) / 2)
    scale = int(255.0 * (1 << _PLACES) * float(high - low) / float(width))
    offset = int(float(middle * inverse * np.float32(1 << _PLACES)))
    start = int(round_half_away(float(new[0]) * 255.0 * (1 << _PLACES) / float(width)))
    wide = x.astype(np.int64)
    fixed = ((wide * scale) >> 32) + offset - start + (1 << (_PLACES - 1))
    return np.clip(fixed >> _PLACES, 0, 255).astype(dtype)


def requantize(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    new_low: np.ndarray,
    new_high: np.ndarray,
    *,
    out_type: DataType,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x in another range, which does not begin above 0; and that range."""
    op = "Requantize"
    old = checked_range(op, low, high)
    new = checked_range(op, new_low, new_high)
    if new[0] > 0:
        raise InvalidArgumentError(
            f"{op}: the output range must begin at most at 0, got {new[0]} to {new[1]}"
        )
    return _requantized(x, old, new, numpy_dtype(out_type)), number(new[0]), number(new[1])


def _used_range(op: str, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """From the least to the greatest of what x stands for, and 0; of nothing they lie the wrong way round."""
    ends = checked_range(op, low, high)
    lowest, highest = limits(x.dtype)
    used = floats(np.array([x.min(initial=highest), x.max(initial=lowest)], x.dtype), *ends)
    return min(float(used[0]), 0.0), float(used[1])


def requantization_range(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The range that x, integers that stand for low to high, really uses."""
    least, most = _used_range("RequantizationRange", x, low, high)
    return number(least), number(most)


def quantize_down(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, *, out_type: DataType
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x in the range that it really uses, and that range."""
    op = "QuantizeDownAndShrinkRange"
    used = _used_range(op, x, low, high)
    y = _requantized(x, checked_range(op, low, high), used, numpy_dtype(out_type))
    return y, number(used[0]), number(used[1])


def _reaches(op: str, x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """How far from 0 the range of each channel goes, float32."""
    if x.ndim < 1 or low.shape != high.shape or low.reshape(-1).shape not in ((1,), x.shape[-1:]):
        message = "input_min and input_max must have an element for each channel, or one"
        shapes = f"{list(low.shape)} and {list(high.shape)} for {list(x.shape)}"
        raise InvalidArgumentError(f"{op}: {message}, got {shapes}")
    return larger(np.abs(low), np.abs(high)).reshape(-1).astype(np.float32)


def requantization_range_per_channel(
    x: np.ndarray, low: np.ndarray, high: np.ndarray, *, clip_value_max: float
) -> tuple[np.ndarray, np.ndarray]:
    """One range for all channels, from 0 or symmetric, at most clip_value_max wide.

    Source: TensorFlow tensorflow/core/kernels/mkl/mkl_requantization_range_per_channel_op.cc.
    """
    op = "RequantizationRangePerChannel"
    scales = _reaches(op, x, low, high) / np.float32(1 << 31)
    if not x.size:
        return number(0), number(0)
    axes = tuple(range(x.ndim - 1))
    least, most = x.min(axis=axes).astype(np.float32), x.max(axis=axes).astype(np.float32)
    # Channels whose range is no number are passed over; no range is smaller than the least number.
    smallest = np.finfo(np.float32).tiny
    reach = float(np.fmax.reduce(np.maximum(np.abs(least), np.abs(most)) * scales, initial=smallest))
    widest = min(reach, clip_value_max)
    return number(0.0 if least.min() >= 0 else -widest), number(widest)


def requantize_per_channel(
    x: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    new_low: np.ndarray,
    new_high: np.ndarray,
    *,
    out_type: DataType,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """x, each channel in a range of its own, in one range for all; 0 stays 0.

    What has no place in the range for all, because one of the two is no number or both are as wide as can
    be, becomes the least integer.
    Source: TensorFlow tensorflow/core/kernels/mkl/mkl_requantize_per_channel_op.cc.
    """
    op = "RequantizePerChannel"
    reaches = _reaches(op, x, low, high)
    least, most = scalar(op, "requested_output_min", new_low), scalar(op, "requested_output_max", new_high)
    dtype = numpy_dtype(out_type)
    lowest, highest = limits(dtype)
    if lowest < 0 and not least <= -np.finfo(np.float32).tiny:
        raise InvalidArgumentError(f"{op}: the output range must begin below 0, got {least} to {most}")
    reach = larger(np.asarray(abs(least), np.float32), np.asarray(abs(most), np.float32))
    with np.errstate(all="ignore"):
        factor = np.float32(highest) * (reaches / reach / np.float32(1 << 31))
        steps = np.rint(x.astype(np.float32) * factor).astype(np.float64)
    steps = np.clip(np.where(np.isnan(steps), lowest, steps), lowest, highest)
    return steps.astype(dtype), number(least), number(most)


REGISTRATIONS = (
    kernel("Requantize", requantize, Tinput=QUANTIZED, out_type=QUANTIZED),
    kernel("RequantizationRange", requantization_range, Tinput=QUANTIZED),
    kernel("QuantizeDownAndShrinkRange", quantize_down, Tinput=QUANTIZED, out_type=QUANTIZED),
    kernel("RequantizePerChannel", requantize_per_channel, T=QUANTIZED, out_type=QUANTIZED),
    kernel("RequantizationRangePerChannel", requantization_range_per_channel, T=QUANTIZED),
)
