"""float32 rows quantized to 0..255, each by its own range, as TFLite's tensor_utils do it."""

import math

import numpy as np
from numba import carray, njit

from ..contraction.blocks import QUANTIZE_ROWS, ROW_QUANTIZATION
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, record_pointer, uint8_pointer
from .run_copy import fill_run

kernels = KernelSources()
_quantization_at = record_pointer(ROW_QUANTIZATION)

EVERY_BYTE = 0x0101010101010101


@njit(error_model="numpy")
def round_half_away(x):
    """A float, rounded in float64, as a float64."""
    return math.copysign(math.floor(abs(np.float64(x)) + 0.5), np.float64(x))


@njit(error_model="numpy")
def zero_point_of(low, high, scale):
    """The zero point in -128..127 (as a float64) that puts the better of both ends on a whole number."""
    from_low, from_high = -128.0 - low / scale, 127.0 - high / scale
    zero_point = from_high
    if 128.0 + abs(low / scale) < 127.0 + abs(high / scale):
        zero_point = from_low
    return round_half_away(min(max(zero_point, -128.0), 127.0))


@kernels.add(QUANTIZE_ROWS)
def quantize_rows_reference(a, chunk, chunks):
    depth = a.depth
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        x = carray(float32_pointer(a.x + row * depth * 4), depth)
        q = carray(uint8_pointer(a.q + row * a.stride), depth)
        low, high = np.float32(0), np.float32(0)
        for k in range(depth):
            low, high = min(low, x[k]), max(high, x[k])
        scale, factor, zero_point, lowest = np.float32(1), np.float32(0), np.float32(0), -128.0
        if a.symmetric != 0:
            greatest = max(-low, high)
            lowest = -127.0
            if greatest > 0:
                scale = greatest / np.float32(127)
                factor = np.float32(127) / greatest
        elif low != high:
            step = np.float64(np.float32(high - low)) / 255.0
            scale = np.float32(step)
            zero_point = np.float32(zero_point_of(np.float64(low), np.float64(high), step))
            factor = np.float32(1) / scale
        for k in range(depth):
            value = round_half_away(x[k] * factor) + np.float64(zero_point)
            q[k] = np.uint8(np.int64(min(max(value, lowest), 127.0)) + 128)
        quantization = carray(_quantization_at(a.quantization + row * 8), 1)[0]
        quantization.zero_point = np.int32(zero_point) + np.int32(128)
        quantization.scale = scale
        if a.padding != 0:
            byte = np.int64(quantization.zero_point) * EVERY_BYTE
            fill_run(a.padding + row * a.padding_bytes, byte, a.padding_bytes)
    return 0
