"""SOFTMAX and LOG_SOFTMAX of float32 rows."""

import math

import numpy as np
from numba import njit

from ..softmax import SOFTMAX_F32
from .elements import float_bits, float_from_bits, read_back_f32, read_f32, write_f32
from .family import KernelFamily
from .vector_math import exp_of_negative_f32

kernels = KernelFamily()

_MAGNITUDE = np.int32(0x7FFFFFFF)
_SIGN_BITS = np.int32(31)


@njit(error_model="numpy")
def _ordered(bits):
    """Maps float32 bits to integers of the same order, and back; NaN is above all."""
    return np.int32(bits ^ np.int32((bits >> _SIGN_BITS) & _MAGNITUDE))


@njit(error_model="numpy")
def _largest(x, start, depth):
    # Integers, because LLVM does not vectorise a float maximum that must keep NaN.
    best = np.int32(-0x80000000)
    for c in range(depth):
        value = _ordered(float_bits(read_f32(x, start + c)))
        best = value if value > best else best
    return float_from_bits(_ordered(best))


@njit(error_model="numpy", fastmath={"reassoc"})
def _write_exponentials(x, y, start, depth, largest, beta):
    """y = e^(beta (x - largest)); returns the sum, taken in any order."""
    total = np.float32(0)
    for c in range(depth):
        value = exp_of_negative_f32((read_f32(x, start + c) - largest) * beta)
        write_f32(y, start + c, value)
        total += value
    return total


@njit(error_model="numpy", fastmath={"reassoc"})
def _sum_of_exponentials(x, start, depth, largest):
    total = np.float32(0)
    for c in range(depth):
        total += exp_of_negative_f32(read_back_f32(x, start + c) - largest)
    return total


@kernels.add(SOFTMAX_F32)
def softmax_f32(a, chunk, chunks):
    x, y, depth, beta = a.x, a.y, a.depth, a.beta
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        start = row * depth
        largest = _largest(x, start, depth)
        share = np.float32(1) / _write_exponentials(x, y, start, depth, largest, beta)
        for c in range(depth):
            write_f32(y, start + c, read_back_f32(y, start + c) * share)
    return 0


@kernels.add(SOFTMAX_F32)
def log_softmax_f32(a, chunk, chunks):
    x, y, depth = a.x, a.y, a.depth
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        start = row * depth
        largest = _largest(x, start, depth)
        log_sum = np.float32(math.log(_sum_of_exponentials(x, start, depth, largest)))
        for c in range(depth):
            write_f32(y, start + c, (read_f32(x, start + c) - largest) - log_sum)
    return 0
