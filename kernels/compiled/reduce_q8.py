"""MEAN and SUM of quantized integers."""

import numpy as np
from numba import njit

from ..reduce import REDUCE_Q8, REDUCE_Q8_REFERENCE
from .elements import (
    read_back_i32,
    read_i8,
    read_i16,
    read_u8,
    write_i8,
    write_i16,
    write_i32,
    write_u8,
)
from .family import KernelFamily
from .pool_window import sum_window_i8, sum_window_i16, sum_window_u8
from .reduction import Accumulator, across_kernel, along_kernel, window_kernel
from .requantize import requantize_double_rounding

kernels = KernelFamily()


@njit(error_model="numpy")
def _widen(x):
    return np.int32(x)


@njit(error_model="numpy")
def _add(x, y):
    return np.int32(x + y)


_SUM = Accumulator(np.int32(0), _widen, _add, read_back_i32, write_i32, 4)


@njit(error_model="numpy")
def _affine(block):
    return block.scale, block.offset


def _rounded(lowest, highest):
    low, high = np.float32(lowest), np.float32(highest)

    @njit(error_model="numpy")
    def finish(total, p):
        scaled = np.float32(total) * p[0] + p[1]
        scaled = low if scaled < low else scaled
        scaled = high if scaled > high else scaled
        return np.int32(np.rint(scaled))

    return finish


@njit(error_model="numpy")
def _fixed(block):
    return block.bias, block.multiplier, block.shift, block.zero


def _requantized(lowest, highest):
    @njit(error_model="numpy")
    def finish(total, p):
        bias, multiplier, shift, zero = p
        return requantize_double_rounding(np.int32(total - bias), multiplier, shift, zero, lowest, highest)

    return finish


def _window(sum_window, write, itemsize, parameters, finish):
    @njit(error_model="numpy")
    def reduce(block, x, at, total, depth, rows, columns, row_bytes, pixel_bytes):
        sum_window(x, total, depth, rows, columns, row_bytes, pixel_bytes)
        y, p = block.y, parameters(block)
        for c in range(depth):
            write(y, at + c, finish(read_back_i32(total, c), p))

    return window_kernel(itemsize, reduce)


for _suffix, _read, _write, _sum_window, _itemsize, _limits in (
    ("i8", read_i8, write_i8, sum_window_i8, 1, (-128, 127)),
    ("u8", read_u8, write_u8, sum_window_u8, 1, (0, 255)),
    ("i16", read_i16, write_i16, sum_window_i16, 2, (-32768, 32767)),
):
    for _name, _block, _parameters, _finish in (
        ("sum", REDUCE_Q8, _affine, _rounded(*_limits)),
        ("sum_reference", REDUCE_Q8_REFERENCE, _fixed, _requantized(*_limits)),
    ):
        for _kind, _kernel in (("along", along_kernel), ("across", across_kernel)):
            kernels.add(_block, f"{_name}_{_kind}_{_suffix}")(
                _kernel(_read, _write, _SUM, _parameters, _finish)
            )
        kernels.add(_block, f"{_name}_window_{_suffix}")(
            _window(_sum_window, _write, _itemsize, _parameters, _finish)
        )
