"""Pooling: one loop over the windows for all types of elements, and what it does with each."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ..pool import POOL_F32, POOL_Q8
from .driver.kernel_source import KernelSources
from .language.elements import read_back_i32, write_i8, write_i16, write_u8
from .pool_row import average_row_f32, max_row_f32, max_row_i8, max_row_u8
from .pool_window import (
    average_window_f32,
    max_window_f32,
    max_window_i8,
    max_window_i16,
    max_window_u8,
    root_mean_square_window_f32,
    sum_window_i8,
    sum_window_i16,
    sum_window_u8,
)

kernels = KernelSources()

# Sums of up to this many bytes divide exactly in float32.
_EXACT_IN_F32 = 1 << 15

_ROW_SIZE = 3  # of the windows that a row is made of
_ROW_STRIDES = 2  # at most


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


def _pool_rows(visit: Callable, visit_row: Callable) -> Callable:
    """The same, but 3x3 windows that lie wholly inside are left to visit_row, a row at a time.

    visit_row(block, corner, outputs, at) takes the first window's corner, and how many there are.
    """
    pool = njit(error_model="numpy")(_pool(visit))

    @njit(error_model="numpy")
    def pool_edge(a, row, y0, y1, begin, end):
        for ox in range(begin, end):
            left = ox * a.stride_w - a.pad_left
            x0, x1 = max(left, 0), min(left + a.filter_width, a.in_width)
            corner = ((row // a.out_height * a.in_height + y0) * a.in_width + x0) * a.depth
            at = (row * a.out_width + ox) * a.depth
            visit(a, corner, max(y1 - y0, 0), max(x1 - x0, 0), at, 0)

    def kernel(a, chunk, chunks):
        if a.filter_height != _ROW_SIZE or a.filter_width != _ROW_SIZE or a.stride_w > _ROW_STRIDES:
            return pool(a, chunk, chunks)
        # Outputs from `begin` to `end` have windows with all columns.
        begin = min((a.pad_left + a.stride_w - 1) // a.stride_w, a.out_width)
        end = min((a.in_width - _ROW_SIZE + a.pad_left) // a.stride_w + 1, a.out_width)
        out_rows = a.batch * a.out_height
        for row in range(out_rows * chunk // chunks, out_rows * (chunk + 1) // chunks):
            image, oy = row // a.out_height, row % a.out_height
            top = oy * a.stride_h - a.pad_top
            y0, y1 = max(top, 0), min(top + _ROW_SIZE, a.in_height)
            if y1 - y0 < _ROW_SIZE or end <= begin:
                pool_edge(a, row, y0, y1, 0, a.out_width)
                continue
            pool_edge(a, row, y0, y1, 0, begin)
            left = begin * a.stride_w - a.pad_left
            corner = ((image * a.in_height + y0) * a.in_width + left) * a.depth
            visit_row(a, corner, end - begin, (row * a.out_width + begin) * a.depth)
            pool_edge(a, row, y0, y1, end, a.out_width)
        return 0

    return kernel


def max_pool_rows(window: Any, row: Any, itemsize: int) -> Callable:
    """The largest elements, with a microkernel for rows of 3x3 windows."""

    @njit(error_model="numpy")
    def visit_row(a, corner, outputs, at):
        x, y, pixel_bytes = a.x + corner * itemsize, a.y + at * itemsize, a.depth * itemsize
        row_bytes = a.in_width * pixel_bytes
        row(x, y, a.depth, outputs, row_bytes, pixel_bytes, a.stride_w, a.low, a.high)

    return _pool_rows(_visit_max(window, itemsize), visit_row)


def mean_pool_rows_f32(window: Any, row: Any) -> Callable:
    """Means, with a microkernel for rows of 3x3 windows."""
    share = np.float32(1) / np.float32(_ROW_SIZE * _ROW_SIZE)

    @njit(error_model="numpy")
    def visit_row(a, corner, outputs, at):
        x, y, pixel_bytes = a.x + corner * 4, a.y + at * 4, a.depth * 4
        row_bytes = a.in_width * pixel_bytes
        row(x, y, a.depth, outputs, row_bytes, pixel_bytes, a.stride_w, a.low, a.high, share)

    return _pool_rows(_visit_mean_f32(window), visit_row)


def _visit_max(window: Any, itemsize: int) -> Any:
    @njit(error_model="numpy")
    def visit(a, corner, rows, columns, at, chunk):
        x, y, pixel_bytes = a.x + corner * itemsize, a.y + at * itemsize, a.depth * itemsize
        window(x, y, a.depth, rows, columns, a.in_width * pixel_bytes, pixel_bytes, a.low, a.high)

    return visit


def _visit_mean_f32(window: Any) -> Any:
    @njit(error_model="numpy")
    def visit(a, corner, rows, columns, at, chunk):
        share = np.float32(1) / np.float32(max(rows * columns, 1))
        x, y, pixel_bytes = a.x + corner * 4, a.y + at * 4, a.depth * 4
        window(x, y, a.depth, rows, columns, a.in_width * pixel_bytes, pixel_bytes, a.low, a.high, share)

    return visit


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


kernels.add(POOL_F32, "max_pool_f32")(max_pool_rows(max_window_f32, max_row_f32, 4))
kernels.add(POOL_F32, "average_pool_f32")(mean_pool_rows_f32(average_window_f32, average_row_f32))
kernels.add(POOL_F32, "l2_pool_f32")(_pool(_visit_mean_f32(root_mean_square_window_f32)))
kernels.add(POOL_Q8, "max_pool_i8")(max_pool_rows(max_window_i8, max_row_i8, 1))
kernels.add(POOL_Q8, "average_pool_i8")(average_pool_q8(sum_window_i8, write_i8, 1))
kernels.add(POOL_Q8, "max_pool_u8")(max_pool_rows(max_window_u8, max_row_u8, 1))
kernels.add(POOL_Q8, "average_pool_u8")(average_pool_q8(sum_window_u8, write_u8, 1))
kernels.add(POOL_Q8, "max_pool_i16")(_pool(_visit_max(max_window_i16, 2)))
kernels.add(POOL_Q8, "average_pool_i16")(average_pool_q8(sum_window_i16, write_i16, 2))
