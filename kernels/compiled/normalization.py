"""L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION, row by row."""

import math

import numpy as np
from numba import njit

from ..normalization import L2_NORMALIZATION, LOCAL_RESPONSE
from .driver.kernel_source import KernelSources
from .fixed_point import high_multiply
from .language.elements import read_f32, read_i8, read_u8, write_f32, write_i8, write_u8
from .requantize import multiply_by_quantized_multiplier

kernels = KernelSources()

_ZERO = np.float32(0)
_LEAST_NORM = np.float32(1e-6)
_MOST = (1 << 31) - 1
_HALF_THREE = (1 << 28) + (1 << 27)  # 1.5 with 28 bits after the point
_HALF_SQRT_2 = 1518500250  # sqrt(1 / 2) with 31 bits after the point


@njit(error_model="numpy")
def _times_power_of_two(x, bits):
    return min(max(x << bits, -_MOST - 1), _MOST)


@njit(error_model="numpy")
def _inverse_square_root(x):
    """(multiplier, shift) with 1 / sqrt(x) = multiplier * 2**(shift - 31), by Newton's steps.

    Fixed point with 28 bits after the point throughout.
    Source: LiteRT tflite/kernels/internal/common.h, GetInvSqrtQuantizedMultiplierExp.
    """
    if x <= 1:
        return _MOST, 0
    right = 11
    while x >= 1 << 29:
        x //= 4
        right += 1
    pairs = 0
    while x << (2 * (pairs + 1)) < 1 << 29:
        pairs += 1
    right -= pairs
    x <<= 2 * pairs
    half = (x >> 1) + 1 >> 1
    root = np.int64(1 << 28)
    for _ in range(5):
        cube = _times_power_of_two(high_multiply(high_multiply(root, root), root), 6)
        root = _times_power_of_two(high_multiply(_HALF_THREE, root) - high_multiply(half, cube), 3)
    root = high_multiply(root, _HALF_SQRT_2)
    if right < 0:
        root <<= -right
        right = 0
    return root, -right


@kernels.add(L2_NORMALIZATION)
def l2_normalization_f32(a, chunk, chunks):
    x, y, depth = a.x, a.y, a.depth
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        at = row * depth
        squares = _ZERO
        for c in range(at, at + depth):
            squares += read_f32(x, c) * read_f32(x, c)
        norm = np.sqrt(squares)
        norm = _LEAST_NORM if norm < _LEAST_NORM else norm
        for c in range(at, at + depth):
            write_f32(y, c, read_f32(x, c) / norm)
    return 0


def _l2_kernel(read, write, width, zero, low, high, factor, bits):
    """Results have 7 bits after the point: offsets times `factor`, shifted left by `bits`."""

    def kernel(a, chunk, chunks):
        x, y, depth, x_zero = a.x, a.y, a.depth, np.int64(a.x_zero)
        for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
            at = row * depth
            squares = np.int64(0)
            for c in range(at, at + depth):
                offset = np.int64(read(x, c)) - x_zero
                squares += offset * offset
            multiplier, shift = _inverse_square_root(min(squares, _MOST))
            for c in range(at, at + depth):
                offset = factor * (np.int64(read(x, c)) - x_zero)
                scaled = np.int64(multiply_by_quantized_multiplier(offset, multiplier, shift + bits)) + zero
                write(y, c, width(min(max(scaled, low), high)))
        return 0

    return kernel


# The types differ in where their products are rounded.
kernels.add(L2_NORMALIZATION, "l2_normalization_i8")(
    _l2_kernel(read_i8, write_i8, np.int8, 0, -128, 127, 1, 7)
)
kernels.add(L2_NORMALIZATION, "l2_normalization_u8")(
    _l2_kernel(read_u8, write_u8, np.uint8, 128, 0, 255, 128, 0)
)


@kernels.add(LOCAL_RESPONSE)
def local_response_f32(a, chunk, chunks):
    x, y, depth = a.x, a.y, a.depth
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        at = row * depth
        for c in range(depth):
            squares = _ZERO
            for k in range(max(0, c - a.before), min(depth, c + a.after + 1)):
                squares += read_f32(x, at + k) * read_f32(x, at + k)
            factor = math.pow(np.float32(a.bias + a.alpha * squares), -a.beta)
            write_f32(y, at + c, read_f32(x, at + c) * factor)
    return 0
