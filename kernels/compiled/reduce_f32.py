"""Reductions of float32."""

import numpy as np
from numba import njit

from ..reduce import REDUCE
from .driver.kernel_source import KernelSources
from .language.elements import read_back_f32, read_f32, write_f32
from .pool_window import EXTREMUM_WINDOWS, average_window_f32
from .reduction import (
    Accumulator,
    across_kernel,
    along_kernel,
    along_row_kernel,
    extremum_window_kernel,
    window_kernel,
)
from .row_f32 import sum_row_f32
from .row_reduction import largest_f32, smallest_f32

kernels = KernelSources()


@njit(error_model="numpy")
def _itself(x):
    return x


@njit(error_model="numpy")
def _add(x, y):
    return x + y


@njit(error_model="numpy")
def _multiply(x, y):
    return x * y


@njit(error_model="numpy")
def _maximum(x, y):
    return x if x > y else y


@njit(error_model="numpy")
def _minimum(x, y):
    return x if x < y else y


@njit(error_model="numpy")
def _sum_row(x, at, count):
    return sum_row_f32(x + at * 4, count)


@njit(error_model="numpy")
def _max_row(x, at, count):
    return largest_f32(x + at * 4, count)


@njit(error_model="numpy")
def _min_row(x, at, count):
    return smallest_f32(x + at * 4, count)


@njit(error_model="numpy")
def _scale(block):
    return block.scale


@njit(error_model="numpy")
def _scaled(x, scale):
    return x * scale


@njit(error_model="numpy")
def _unscaled(x, scale):
    return x


for _name, _zero, _combine, _finish, _row in (
    ("mean", 0, _add, _scaled, _sum_row),
    ("sum", 0, _add, _unscaled, _sum_row),
    ("prod", 1, _multiply, _unscaled, None),
    ("max", -np.inf, _maximum, _unscaled, _max_row),
    ("min", np.inf, _minimum, _unscaled, _min_row),
):
    _start = np.float32(_zero)
    _gathered = Accumulator(_start, _itself, _combine, read_back_f32, write_f32, 4)
    if _row is None:
        _along = along_kernel(read_f32, write_f32, _gathered, _scale, _finish)
    else:
        _along = along_row_kernel(write_f32, _start, _row, _combine, _scale, _finish)
    kernels.add(REDUCE, f"{_name}_along_f32")(_along)
    kernels.add(REDUCE, f"{_name}_across_f32")(across_kernel(read_f32, write_f32, _gathered, _scale, _finish))


@njit(error_model="numpy")
def _window_mean(block, x, at, total, depth, rows, columns, row_bytes, pixel_bytes):
    low, high = np.float32(-np.inf), np.float32(np.inf)
    y = block.y + at * 4
    average_window_f32(x, y, depth, rows, columns, row_bytes, pixel_bytes, low, high, block.scale)


# SUM is a mean whose scale is 1.
for _name in ("mean", "sum"):
    kernels.add(REDUCE, f"{_name}_window_f32")(window_kernel(4, _window_mean))
for _name in ("max", "min"):
    kernels.add(REDUCE, f"{_name}_window_f32")(extremum_window_kernel(4, EXTREMUM_WINDOWS[f"{_name}_f32"]))
