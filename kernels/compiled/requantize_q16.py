"""From int64 sums to int16 outputs."""

import math

import numpy as np
from numba import njit

from ..requantize import FLOAT64_ROUNDING, UPWARD_ROUNDING, WIDE_ROUNDING
from .requantize import (
    multiply_by_quantized_multiplier,
    multiply_rounding_up,
    multiply_wide_by_quantized_multiplier,
)


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
