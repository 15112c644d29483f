"""Pooling windows over [N, H, W, C]."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ..pool import POOL_F32, POOL_Q8
from .elements import (
    read_back_f32,
    read_back_i32,
    read_f32,
    read_i8,
    read_u8,
    write_f32,
    write_i8,
    write_i32,
    write_u8,
)
from .family import KernelFamily
from .pool_window import average_window_f32, max_window_f32, max_window_i8, max_window_u8
from .vector_math import clamp_f32

kernels = KernelFamily()

# Sums of up to this many bytes divide exactly in float32.
_EXACT_IN_F32 = 1 << 15


@njit(error_model="numpy")
def _clamp(x, low, high):
    x = low if x < low else x
    return high if x > high else x


@njit(error_model="numpy")
def _tap(corner, width, columns, depth, tap):
    """Element offset of the tap-th element of a window of so many columns."""
    return corner + (tap // columns * width + tap % columns) * depth


def _pool(visit: Callable) -> Callable:
    """A kernel that calls visit(block, corner, rows, columns, at, chunk) for each output pixel.

    corner is the element offset of the window's first pixel inside the image, rows and columns
    the window's sizes as far as it lies inside, at the output pixel's element offset.
    """

    def kernel(a, chunk, chunks):
        rows = a.batch * a.out_height
        for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
            image, oy = row // a.out_height, row % a.out_height
            top = oy * a.stride_h - a.pad_top
            y0, y1 = max(top, 0), min(top + a.filter_height, a.in_height)
            for ox in range(a.out_width):
                left = ox * a.stride_w - a.pad_left
                x0, x1 = max(left, 0), min(left + a.filter_width, a.in_width)
                columns = max(x1 - x0, 0)
                corner = ((image * a.in_height + y0) * a.in_width + x0) * a.depth
                at = (row * a.out_width + ox) * a.depth
                visit(a, corner, max(y1 - y0, 0), columns, at, chunk)
        return 0

    return kernel


def _max_pool(window: Any, itemsize: int) -> Callable:
    @njit(error_model="numpy")
    def visit(a, corner, rows, columns, at, chunk):
        x, y, pixel_bytes = a.x + corner * itemsize, a.y + at * itemsize, a.depth * itemsize
        window(x, y, a.depth, rows, columns, a.in_width * pixel_bytes, pixel_bytes, a.low, a.high)

    return _pool(visit)


def _accumulate(read: Any, read_back: Any, write: Any, term: Callable, zero: Any) -> Callable:
    """accumulate(...) sets `total`'s depth elements to the sums of term(x) over a window."""

    @njit(error_model="numpy")
    def accumulate(total, x, corner, width, columns, taps, depth):
        for c in range(depth):
            write(total, c, zero)
        whole = taps // 4 * 4
        for tap in range(0, whole, 4):
            i = _tap(corner, width, columns, depth, tap)
            j = _tap(corner, width, columns, depth, tap + 1)
            k = _tap(corner, width, columns, depth, tap + 2)
            m = _tap(corner, width, columns, depth, tap + 3)
            for c in range(depth):
                sum_ = read_back(total, c) + term(read(x, i + c)) + term(read(x, j + c))
                write(total, c, sum_ + term(read(x, k + c)) + term(read(x, m + c)))
        for tap in range(whole, taps):
            i = _tap(corner, width, columns, depth, tap)
            for c in range(depth):
                write(total, c, read_back(total, c) + term(read(x, i + c)))

    return accumulate


@njit(error_model="numpy")
def _squared(x):
    return x * x


@njit(error_model="numpy")
def _widened(x):
    return np.int32(x)


_sum_of_squares_f32 = _accumulate(read_f32, read_back_f32, write_f32, _squared, np.float32(0))


@njit(error_model="numpy")
def _average_f32(a, corner, rows, columns, at, chunk):
    share = np.float32(1) / np.float32(max(rows * columns, 1))
    x, y, pixel_bytes = a.x + corner * 4, a.y + at * 4, a.depth * 4
    row_bytes = a.in_width * pixel_bytes
    average_window_f32(x, y, a.depth, rows, columns, row_bytes, pixel_bytes, a.low, a.high, share)


@njit(error_model="numpy")
def _root_mean_square_f32(a, corner, rows, columns, at, chunk):
    total = a.accumulator + chunk * a.depth * 4
    _sum_of_squares_f32(total, a.x, corner, a.in_width, columns, rows * columns, a.depth)
    low, high, y, depth = a.low, a.high, a.y, a.depth
    count = np.float32(max(rows * columns, 1))
    for c in range(depth):
        write_f32(y, at + c, clamp_f32(np.sqrt(read_back_f32(total, c) / count), low, high))


def _average_pool_q8(read: Any, write: Any) -> Callable:
    """Rounds half away from zero; an odd count's half is rounded down first, as TFLite does."""
    accumulate = _accumulate(read, read_back_i32, write_i32, _widened, np.int32(0))

    @njit(error_model="numpy")
    def visit(a, corner, rows, columns, at, chunk):
        taps = rows * columns
        total = a.accumulator + chunk * a.depth * 4
        accumulate(total, a.x, corner, a.in_width, columns, taps, a.depth)
        low, high, y, depth = a.low, a.high, a.y, a.depth
        count = max(taps, 1)
        half = np.int32(count // 2)
        if count <= _EXACT_IN_F32:
            divisor = np.float32(count)
            for c in range(depth):
                sum_ = read_back_i32(total, c)
                sum_ = np.int32(sum_ + half) if sum_ > 0 else np.int32(sum_ - half)
                write(y, at + c, _clamp(np.int32(np.float32(sum_) / divisor), low, high))
        else:
            wide_divisor = np.float64(count)
            for c in range(depth):
                sum_ = read_back_i32(total, c)
                sum_ = np.int32(sum_ + half) if sum_ > 0 else np.int32(sum_ - half)
                write(y, at + c, _clamp(np.int32(np.float64(sum_) / wide_divisor), low, high))

    return _pool(visit)


kernels.add(POOL_F32, "max_pool_f32")(_max_pool(max_window_f32, 4))
kernels.add(POOL_Q8, "max_pool_i8")(_max_pool(max_window_i8, 1))
kernels.add(POOL_Q8, "max_pool_u8")(_max_pool(max_window_u8, 1))
kernels.add(POOL_F32, "average_pool_f32")(_pool(_average_f32))
kernels.add(POOL_Q8, "average_pool_i8")(_average_pool_q8(read_i8, write_i8))
kernels.add(POOL_Q8, "average_pool_u8")(_average_pool_q8(read_u8, write_u8))
kernels.add(POOL_F32, "l2_pool_f32")(_pool(_root_mean_square_f32))
