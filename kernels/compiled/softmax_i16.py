"""SOFTMAX of int16 rows, by interpolation in tables."""

import numpy as np
from numba import njit

from ..softmax import SOFTMAX_I16
from .driver.kernel_source import KernelSources
from .language.elements import read_back_i16, read_i16, write_i16
from .requantize import multiply_by_quantized_multiplier

kernels = KernelSources()

_LOWEST = np.int64(-32768)
_HIGHEST = np.int64(32767)


@njit(error_model="numpy")
def _clamped(x):
    return min(max(np.int64(x), _LOWEST), _HIGHEST)


@njit(error_model="numpy")
def _interpolated(table, position):
    """The table's value at a position in -32768 .. 32767."""
    index, offset = 256 + (position >> 7), position & 0x7F
    base = np.int64(read_i16(table, index))
    slope = np.int64(read_i16(table, index + 1)) - base
    return base + ((slope * offset + 64) >> 7)


@njit(error_model="numpy")
def _leading_zeros(x):
    count = 0
    while count < 32 and x < (np.int64(1) << (31 - count)):
        count += 1
    return count


@kernels.add(SOFTMAX_I16)
def softmax_i16(a, chunk, chunks):
    depth, exponentials = a.depth, a.scratch + chunk * a.depth * 2
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        x, y = a.x + row * depth * 2, a.y + row * depth * 2
        largest = np.int32(-32768)
        for c in range(depth):
            largest = max(largest, np.int32(read_i16(x, c)))
        total = np.int64(0)
        for c in range(depth):
            difference = np.int32(np.int32(read_i16(x, c)) - largest)
            scaled = multiply_by_quantized_multiplier(difference, a.multiplier, a.shift)
            value = _interpolated(a.exponentials, _clamped(np.int64(scaled) + 32767))
            write_i16(exponentials, c, np.int16(value))
            total += value
        zeros = _leading_zeros(total)
        shifted = ((total << (zeros - 1)) + (1 << 13)) >> 14
        share = _interpolated(a.reciprocals, _clamped(shifted - (1 << 15) - (1 << 16)))
        right = 31 - zeros
        for c in range(depth):
            value = np.int64(read_back_i16(exponentials, c)) * share + (np.int64(1) << (right - 1))
            write_i16(y, c, np.int16(min(max(value >> right, np.int64(0)), _HIGHEST)))
    return 0
