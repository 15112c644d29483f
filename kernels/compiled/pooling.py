"""The loops over a pooling's windows, shared by all types of elements."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from .elements import read_back_i32

# Sums of up to this many bytes divide exactly in float32.
_EXACT_IN_F32 = 1 << 15


def _pool(visit: Callable) -> Callable:
    """A kernel that calls visit(block, corner, rows, columns, at, chunk) for each output pixel.

    corner is the element offset of the window's first pixel inside the image, rows and columns
    the window's sizes as far as it lies inside, at the output pixel's element offset.
    """

    def kernel(a, chunk, chunks):
        out_rows = a.batch * a.out_height
        for row in range(out_rows * chunk // chunks, out_rows * (chunk + 1) // chunks):
            image, oy = row // a.out_height, row % a.out_height
            top = oy * a.stride_h - a.pad_top
            y0, y1 = max(top, 0), min(top + a.filter_height, a.in_height)
            for ox in range(a.out_width):
                left = ox * a.stride_w - a.pad_left
                x0, x1 = max(left, 0), min(left + a.filter_width, a.in_width)
                corner = ((image * a.in_height + y0) * a.in_width + x0) * a.depth
                at = (row * a.out_width + ox) * a.depth
                visit(a, corner, max(y1 - y0, 0), max(x1 - x0, 0), at, chunk)
        return 0

    return kernel


def max_pool(window: Any, itemsize: int) -> Callable:
    @njit(error_model="numpy")
    def visit(a, corner, rows, columns, at, chunk):
        x, y, pixel_bytes = a.x + corner * itemsize, a.y + at * itemsize, a.depth * itemsize
        window(x, y, a.depth, rows, columns, a.in_width * pixel_bytes, pixel_bytes, a.low, a.high)

    return _pool(visit)


def mean_pool_f32(window: Any) -> Callable:
    @njit(error_model="numpy")
    def visit(a, corner, rows, columns, at, chunk):
        share = np.float32(1) / np.float32(max(rows * columns, 1))
        x, y, pixel_bytes = a.x + corner * 4, a.y + at * 4, a.depth * 4
        window(x, y, a.depth, rows, columns, a.in_width * pixel_bytes, pixel_bytes, a.low, a.high, share)

    return _pool(visit)


@njit(error_model="numpy")
def _half_added(total, half):
    return np.int32(total + half) if total > 0 else np.int32(total - half)


@njit(error_model="numpy")
def _clamp(x, low, high):
    x = low if x < low else x
    return high if x > high else x


def average_pool_q8(sum_window: Any, write: Any, itemsize: int) -> Callable:
    """Rounds half away from zero; an odd count's half is rounded down first, as TFLite does."""

    @njit(error_model="numpy")
    def visit(a, corner, rows, columns, at, chunk):
        total = a.accumulator + chunk * a.depth * 4
        low, high, y, depth = a.low, a.high, a.y, a.depth
        pixel_bytes = depth * itemsize
        row_bytes = a.in_width * pixel_bytes
        sum_window(a.x + corner * itemsize, total, depth, rows, columns, row_bytes, pixel_bytes)
        count = max(rows * columns, 1)
        half = np.int32(count // 2)
        if itemsize == 1 and count <= _EXACT_IN_F32:
            for c in range(depth):
                rounded = _half_added(read_back_i32(total, c), half)
                write(y, at + c, _clamp(np.int32(np.float32(rounded) / np.float32(count)), low, high))
        else:
            for c in range(depth):
                rounded = _half_added(read_back_i32(total, c), half)
                write(y, at + c, _clamp(np.int32(np.float64(rounded) / np.float64(count)), low, high))

    return _pool(visit)
