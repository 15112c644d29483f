"""SOFTMAX and LOG_SOFTMAX of int8 and uint8 rows, by tables of exponentials; SOFTMAX also to int16."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ..softmax import LOG_SOFTMAX_Q8, SOFTMAX_Q8, SOFTMAX_Q8_REFERENCE, SUM_INTEGER_BITS
from .driver.kernel_source import KernelSources
from .fixed_point import divide_by_power, high_multiply, reciprocal_of_one_plus
from .language.elements import read_f32, read_i8, read_i32, read_u8, write_i8, write_i16, write_u8

kernels = KernelSources()


def _largest(read: Any) -> Callable:
    @njit(error_model="numpy")
    def largest(x, start, depth):
        best = np.int32(-128)
        for c in range(depth):
            value = np.int32(read(x, start + c))
            best = value if value > best else best
        return np.int64(best)

    return largest


def _softmax(read: Any, write: Any, highest: int) -> Callable:
    """In float32, summed in order: what LiteRT computes by default."""
    largest_of = _largest(read)

    def kernel(a, chunk, chunks):
        x, y, depth = a.x, a.y, a.depth
        zero = np.int64(a.zero)
        for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
            start = row * depth
            table = a.exponentials + (255 - largest_of(x, start, depth)) * 4
            total = np.float32(0)
            for c in range(depth):
                total += read_f32(table, np.int64(read(x, start + c)))
            share = np.float32(1) / (total * a.y_scale)
            for c in range(depth):
                real = read_f32(table, np.int64(read(x, start + c))) * share
                whole = np.int64(np.int32(np.float64(real) + 0.5)) + zero
                write(y, start + c, min(whole, np.int64(highest)))
        return 0

    return kernel


def _log_softmax(read: Any, write: Any, lowest: int) -> Callable:
    largest_of = _largest(read)

    def kernel(a, chunk, chunks):
        x, y, depth = a.x, a.y, a.depth
        low, high = np.int32(lowest), np.int32(lowest + 255)
        zero, furthest = np.int32(a.zero), np.int32(a.furthest)
        for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
            start = row * depth
            largest = largest_of(x, start, depth)
            table = a.exponentials + (255 - largest) * 4
            total = np.float32(0)
            for c in range(depth):
                total += read_f32(table, np.int64(read(x, start + c)))
            log_sum = np.float32(math.log(total))
            offset = (a.x_scale * np.float32(largest) + log_sum) / a.y_scale
            scale = a.x_scale / a.y_scale
            least = np.int32(np.int32(largest) - furthest)
            for c in range(depth):
                stored = np.int32(read(x, start + c))
                whole = np.int32(np.int32(np.rint(np.float32(stored) * scale - offset)) + zero)
                if whole < low or stored < least:
                    whole = low
                write(y, start + c, high if whole > high else whole)
        return 0

    return kernel


@njit(error_model="numpy")
def _leading_zeros(x):
    count = 0
    while count < 32 and x < (np.int64(1) << (31 - count)):
        count += 1
    return count


def _softmax_reference(read: Any, write: Any, bits: int, lowest: int) -> Callable:
    """In fixed point, as TFLite's reference kernels compute it."""
    largest_of = _largest(read)

    def kernel(a, chunk, chunks):
        x, y, depth = a.x, a.y, a.depth
        for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
            start = row * depth
            largest = largest_of(x, start, depth)
            total = np.int64(0)
            for c in range(depth):
                total += np.int64(read_i32(a.terms, largest - np.int64(read(x, start + c))))
            zeros = _leading_zeros(total)
            share = reciprocal_of_one_plus((total << zeros) - (np.int64(1) << 31))
            shift = SUM_INTEGER_BITS - zeros + 31 - bits
            for c in range(depth):
                value = read_i32(a.exponentials, largest - np.int64(read(x, start + c)))
                scaled = divide_by_power(high_multiply(share, value), shift)
                write(y, start + c, np.int32(min(scaled, np.int64((1 << bits) - 1)) + lowest))
        return 0

    return kernel


for _suffix, _read, _write, _lowest in (("i8", read_i8, write_i8, -128), ("u8", read_u8, write_u8, 0)):
    kernels.add(LOG_SOFTMAX_Q8, f"log_softmax_{_suffix}")(_log_softmax(_read, _write, _lowest))
    for _kinds, _to, _bits, _least in (
        (_suffix, _write, 8, _lowest),
        (f"{_suffix}_i16", write_i16, 16, -32768),
    ):
        kernels.add(SOFTMAX_Q8, f"softmax_{_kinds}")(_softmax(_read, _to, _least + (1 << _bits) - 1))
        kernels.add(SOFTMAX_Q8_REFERENCE, f"softmax_reference_{_kinds}")(
            _softmax_reference(_read, _to, _bits, _least)
        )
