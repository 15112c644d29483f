"""What the float cells of recurrent operators share: sums, quantization of values, activation.

As in lstm_q8.py, loads of what the kernel itself writes are plain.
"""

import numpy as np
from numba import njit

from ..fused_activation import RELU, RELU6, RELU_N1_TO_1, SIGN_BIT, TANH
from ..recurrent import ROWS
from .language.elements import float_bits, read_f32, read_i8, read_i32, write_f32, write_i8, write_i32
from .language.memory import float32_pointer, int8_pointer, int32_pointer
from .language.vector_math import tanh_f32

_ZERO = np.float32(0)
_jit = njit(error_model="numpy", fastmath={"contract"})


@_jit
def accumulate_f32(sums, weights, values, depth, width):
    """sums[j] += sum over k of values[k] * weights[k, j], width a multiple of LANES."""
    total, vector = float32_pointer(sums), float32_pointer(values)
    whole = depth // ROWS * ROWS
    for k in range(0, whole, ROWS):
        v0, v1, v2, v3 = vector[k], vector[k + 1], vector[k + 2], vector[k + 3]
        row = weights + 4 * k * width
        for i in range(width):
            value = total[i] + v0 * read_f32(row, i)
            value += v1 * read_f32(row + 4 * width, i)
            value += v2 * read_f32(row + 8 * width, i)
            write_f32(sums, i, value + v3 * read_f32(row + 12 * width, i))
    for k in range(whole, depth):
        v0, row = vector[k], weights + 4 * k * width
        for i in range(width):
            write_f32(sums, i, total[i] + v0 * read_f32(row, i))


@_jit
def accumulate_i8(sums, weights, values, depth, width):
    """sums[j] = sum over k of values[k] * weights[k, j]; as in add_products_i8."""
    for i in range(width):
        write_i32(sums, i, np.int32(0))
    add_products_i8(sums, weights, values, depth, width)


@_jit
def add_products_i8(sums, weights, values, depth, width):
    """sums[j] += sum over k of values[k] * weights[k, j].

    Weights have zero rows up to a multiple of ROWS, so what lies behind the values does not count.
    """
    total, vector = int32_pointer(sums), int8_pointer(values)
    for k in range(0, depth, ROWS):
        v0, v1 = np.int32(vector[k]), np.int32(vector[k + 1])
        v2, v3 = np.int32(vector[k + 2]), np.int32(vector[k + 3])
        row = weights + k * width
        for i in range(width):
            grown = (
                v0 * np.int32(read_i8(row, i))
                + v1 * np.int32(read_i8(row + width, i))
                + v2 * np.int32(read_i8(row + 2 * width, i))
                + v3 * np.int32(read_i8(row + 3 * width, i))
            )
            write_i32(sums, i, np.int32(total[i] + grown))


@_jit
def round_away(value):
    """The nearest integer, ties away from zero."""
    half = np.float32(0.5) if value >= 0 else np.float32(-0.5)
    return np.int32(np.float32(value + half))


@_jit
def quantize(values, size, asymmetric, to):
    """Quantize to int8; returns (scale, zero point).

    Source: LiteRT portable_tensor_utils.cc, PortableSymmetricQuantizeFloats and its asymmetric twin.
    """
    x = float32_pointer(values)
    low, high = _ZERO, _ZERO
    for i in range(size):
        low, high = min(low, x[i]), max(high, x[i])
    zero_point = np.int32(0)
    if asymmetric:
        step = (np.float64(high) - np.float64(low)) / 255.0
        from_low, from_high = -128.0 - low / step, 127.0 - high / step
        place = from_low if 128.0 + abs(low / step) < 127.0 + abs(high / step) else from_high
        zero_point = np.int32(min(max(np.floor(place + 0.5), -128.0), 127.0))
        scale = np.float32(step)
        inverse = np.float32(1) / scale
    else:
        size_of_largest = max(-low, high)
        scale = np.float32(size_of_largest / np.float32(127))
        inverse = np.float32(np.float32(127) / size_of_largest)
    lowest = -128 if asymmetric else -127
    if low == high:
        scale, inverse, zero_point = np.float32(1), _ZERO, np.int32(0)
    for i in range(size):
        scaled = np.float32(np.float32(x[i] * inverse) + np.float32(zero_point))
        write_i8(to, i, np.int8(min(max(round_away(scaled), lowest), 127)))
    for i in range(size, size + ROWS):
        write_i8(to, i, np.int8(0))
    return scale, zero_point


@_jit
def add_scaled(to, sums, count, scale, zero_point, row_sums):
    """to[i] += scale * (sums[i] - zero_point * row_sums[i])."""
    old, total = float32_pointer(to), int32_pointer(sums)
    if zero_point != 0:
        for i in range(count):
            moved = np.int32(total[i] - zero_point * read_i32(row_sums, i))
            write_f32(to, i, old[i] + np.float32(moved) * scale)
    else:
        for i in range(count):
            write_f32(to, i, old[i] + np.float32(total[i]) * scale)


@_jit
def activate(values, count, activation, to):
    """to = activation(values); they may be the same."""
    x = float32_pointer(values)
    if activation == TANH:
        for i in range(count):
            write_f32(to, i, tanh_f32(x[i]))
    elif activation == SIGN_BIT:
        for i in range(count):
            write_f32(to, i, np.float32(1) if float_bits(x[i]) < 0 else _ZERO)
    else:
        high = np.float32(6) if activation == RELU6 else np.float32(np.inf)
        low = _ZERO if activation in (RELU, RELU6) else np.float32(-np.inf)
        if activation == RELU_N1_TO_1:
            low, high = np.float32(-1), np.float32(1)
        for i in range(count):
            write_f32(to, i, np.float32(min(max(x[i], low), high)))
