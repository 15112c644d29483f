"""Loops that sum quantized integers, shared by the arithmetics that turn sums into results."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from .language.elements import read_back_i32, write_i32
from .reduction import Accumulator, across_kernel, along_kernel, along_row_kernel, window_kernel


@njit(error_model="numpy")
def _widen(x):
    return np.int32(x)


@njit(error_model="numpy")
def _add(x, y):
    return np.int32(x + y)


_SUM = Accumulator(np.int32(0), _widen, _add, read_back_i32, write_i32, 4)


def _window_kernel(
    sum_window: Any, write: Any, itemsize: int, parameters: Callable, finish: Callable
) -> Callable:
    @njit(error_model="numpy")
    def reduce(block, x, at, total, depth, rows, columns, row_bytes, pixel_bytes):
        sum_window(x, total, depth, rows, columns, row_bytes, pixel_bytes)
        y, p = block.y, parameters(block)
        for c in range(depth):
            write(y, at + c, finish(read_back_i32(total, c), p))

    return window_kernel(itemsize, reduce)


def _along_kernel(row_total: Any, write: Any, parameters: Callable, finish: Callable) -> Callable:
    @njit(error_model="numpy")
    def gather(x, at, count):
        return row_total(x + at, count)

    return along_row_kernel(write, np.int32(0), gather, _add, parameters, finish)


def sum_kernels(
    read: Any,
    write: Any,
    sum_window: Any,
    itemsize: int,
    parameters: Callable,
    finish: Callable,
    row_total: Any = None,
) -> dict[str, Callable]:
    """Kernels by kind: y = finish(sum of x, parameters(block)). itemsize is bytes per element.

    row_total(x, count) sums a row of bytes, where there is one.
    """
    if row_total is None:
        along = along_kernel(read, write, _SUM, parameters, finish)
    else:
        along = _along_kernel(row_total, write, parameters, finish)
    return {
        "along": along,
        "across": across_kernel(read, write, _SUM, parameters, finish),
        "window": _window_kernel(sum_window, write, itemsize, parameters, finish),
    }
