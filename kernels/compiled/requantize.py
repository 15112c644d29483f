"""From an accumulator to a quantized output: the scalar arithmetic, for use inside kernels."""

import math

import numpy as np
from numba import njit

from ..requantize import DOUBLE_ROUNDING, FLOAT64_ROUNDING, FLOAT_ROUNDING, UPWARD_ROUNDING, WIDE_ROUNDING

# Adding this to a float32 below 2**22 in size rounds it to an integer, ties to even.
_ROUNDER = np.float32(12582912.0)


@njit(error_model="numpy")
def multiply_by_quantized_multiplier(x, multiplier, shift):
    """x (int32) * multiplier * 2**(shift - 31) as int32: both steps round half away from zero.

    Source: LiteRT tflite/kernels/internal/common.cc, MultiplyByQuantizedMultiplier.
    """
    left = max(shift, 0)
    right = max(-shift, 0)
    shifted = np.int64(np.int32(np.int64(x) << left))
    high = (shifted * np.int64(multiplier) + (1 << 30)) >> 31
    mask = (np.int64(1) << right) - 1
    threshold = (mask >> 1) + (1 if high < 0 else 0)
    return np.int32((high >> right) + (1 if (high & mask) > threshold else 0))


@njit(error_model="numpy")
def multiply_rounding_up(x, multiplier, shift):
    """Like multiply_by_quantized_multiplier, but the second step takes ties upwards.

    What LiteRT's optimized matrix multiplication does on x86.
    """
    left = max(shift, 0)
    right = max(-shift, 0)
    shifted = np.int64(np.int32(np.int64(x) << left))
    high = (shifted * np.int64(multiplier) + (1 << 30)) >> 31
    return np.int32((high + ((np.int64(1) << right) >> 1)) >> right)


@njit(error_model="numpy")
def multiply_wide_by_quantized_multiplier(x, multiplier, shift):
    """x (int64, below 2**47 in size) * multiplier * 2**(shift - 31), rounded half up, as int32.

    The multiplier is cut to 16 bits first.
    Source: LiteRT tflite/kernels/internal/common.cc, MultiplyByQuantizedMultiplier of int64.
    """
    reduced = (np.int64(multiplier) + (1 << 15)) >> 16 if multiplier < 0x7FFF0000 else np.int64(0x7FFF)
    total = 15 - np.int64(shift)
    return np.int32((np.int64(x) * reduced + (np.int64(1) << (total - 1))) >> total)


@njit(error_model="numpy")
def round_half_even(x):
    """The integer (int32) nearest to a float32 below 2**22 in size, ties to even."""
    return np.int32((np.float32(x) + _ROUNDER) - _ROUNDER)


@njit(error_model="numpy")
def requantize_float(accumulator, scale, zero_point, lowest, highest):
    """clamp(zero_point + accumulator * scale) as int32; the float32 product is rounded half to even.

    lowest and highest are quantized values. Source: XNNPACK, fp32 requantization.
    """
    product = np.float32(np.int32(accumulator)) * np.float32(scale)
    product = min(max(product, np.float32(lowest - zero_point)), np.float32(highest - zero_point))
    return np.int32(round_half_even(product) + zero_point)


@njit(error_model="numpy")
def requantize_double_rounding(accumulator, multiplier, shift, zero_point, lowest, highest):
    """clamp(zero_point + accumulator * multiplier * 2**(shift - 31)) as int32, the reference's rounding."""
    scaled = np.int64(multiply_by_quantized_multiplier(accumulator, multiplier, shift)) + zero_point
    return np.int32(min(max(scaled, lowest), highest))


@njit(error_model="numpy")
def requantize_rounding_up(accumulator, multiplier, shift, zero_point, lowest, highest):
    """Like requantize_double_rounding, with multiply_rounding_up."""
    scaled = np.int64(multiply_rounding_up(accumulator, multiplier, shift)) + zero_point
    return np.int32(min(max(scaled, lowest), highest))


@njit(error_model="numpy")
def requantize_float64(accumulator, scale, zero_point, lowest, highest):
    """clamp(zero_point + accumulator * scale) as int32; the float64 product rounds half away from zero."""
    product = np.float64(np.int32(accumulator)) * np.float64(scale)
    product = min(max(product, np.float64(lowest - zero_point)), np.float64(highest - zero_point))
    # Just below a half, so that adding it never carries the largest number below a half up to one.
    half = 0.49999999999999994
    return np.int32(np.int64(product + (half if product >= 0 else -half)) + zero_point)


@njit(error_model="numpy")
def requantize(accumulator, rounding, multiplier, shift, scale, real, zero_point, lowest, highest):
    """The requantization that `rounding` names (kernels/requantize.py), for kernels that leave it open."""
    if rounding == FLOAT_ROUNDING:
        return requantize_float(accumulator, scale, zero_point, lowest, highest)
    if rounding == DOUBLE_ROUNDING:
        return requantize_double_rounding(accumulator, multiplier, shift, zero_point, lowest, highest)
    if rounding == UPWARD_ROUNDING:
        return requantize_rounding_up(accumulator, multiplier, shift, zero_point, lowest, highest)
    return requantize_float64(accumulator, real, zero_point, lowest, highest)


@njit(error_model="numpy")
def requantize_q16(total, rounding, multiplier, shift, real_scale, lowest, highest):
    """A sum (int64) scaled as `rounding` says and clamped, as int16."""
    if rounding == WIDE_ROUNDING:
        scaled = np.int64(multiply_wide_by_quantized_multiplier(total, multiplier, shift))
    elif rounding == FLOAT64_ROUNDING:
        product = np.float64(total) * real_scale
        product = min(max(product, -65536.0), 65536.0)
        scaled = np.int64(math.copysign(math.floor(abs(product) + 0.5), product))
    elif rounding == UPWARD_ROUNDING:
        scaled = np.int64(multiply_rounding_up(np.int32(total), multiplier, shift))
    else:
        scaled = np.int64(multiply_by_quantized_multiplier(np.int32(total), multiplier, shift))
    return np.int16(min(max(scaled, lowest), highest))
