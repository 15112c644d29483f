"""Reductions of float32."""

import numpy as np
from numba import njit

from ..reduce import REDUCE
from .elements import read_back_f32, read_f32, write_f32
from .family import KernelFamily
from .pool_window import average_window_f32
from .reduction import Accumulator, across_kernel, along_kernel, window_kernel

kernels = KernelFamily()


@njit(error_model="numpy")
def _itself(x):
    return x


@njit(error_model="numpy", fastmath={"reassoc"})
def _add(x, y):
    return x + y


@njit(error_model="numpy")
def _add_in_order(x, y):
    return x + y


@njit(error_model="numpy", fastmath={"reassoc"})
def _multiply(x, y):
    return x * y


@njit(error_model="numpy", fastmath={"nsz"})
def _maximum(x, y):
    return x if x > y else y


@njit(error_model="numpy", fastmath={"nsz"})
def _minimum(x, y):
    return x if x < y else y


@njit(error_model="numpy")
def _scale(block):
    return block.scale


@njit(error_model="numpy")
def _scaled(x, scale):
    return x * scale


@njit(error_model="numpy")
def _unscaled(x, scale):
    return x


for _name, _zero, _combine, _combine_in_order, _finish in (
    ("mean", 0, _add, _add_in_order, _scaled),
    ("sum", 0, _add, _add_in_order, _unscaled),
    ("prod", 1, _multiply, _multiply, _unscaled),
    ("max", -np.inf, _maximum, _maximum, _unscaled),
    ("min", np.inf, _minimum, _minimum, _unscaled),
):
    _start = np.float32(_zero)
    _along = Accumulator(_start, _itself, _combine, read_back_f32, write_f32, 4, any_order=True)
    _across = _along._replace(combine=_combine_in_order)
    kernels.add(REDUCE, f"{_name}_along_f32")(along_kernel(read_f32, write_f32, _along, _scale, _finish))
    kernels.add(REDUCE, f"{_name}_across_f32")(across_kernel(read_f32, write_f32, _across, _scale, _finish))


@njit(error_model="numpy")
def _window_mean(block, x, at, total, depth, rows, columns, row_bytes, pixel_bytes):
    low, high = np.float32(-np.inf), np.float32(np.inf)
    y = block.y + at * 4
    average_window_f32(x, y, depth, rows, columns, row_bytes, pixel_bytes, low, high, block.scale)


# SUM is a mean whose scale is 1.
for _name in ("mean", "sum"):
    kernels.add(REDUCE, f"{_name}_window_f32")(window_kernel(4, _window_mean))
