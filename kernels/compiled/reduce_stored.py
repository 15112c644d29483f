"""Largest and smallest stored values of quantized and boolean tensors."""

import numpy as np
from numba import njit

from ..reduce import REDUCE
from .driver.kernel_source import KernelSources
from .language.elements import (
    read_back_i32,
    read_i8,
    read_i16,
    read_u8,
    write_i8,
    write_i16,
    write_i32,
    write_u8,
)
from .pool_window import EXTREMUM_WINDOWS
from .reduction import Accumulator, across_kernel, along_row_kernel, extremum_window_kernel
from .row_reduction import (
    largest_i8,
    largest_i16,
    largest_u8,
    smallest_i8,
    smallest_i16,
    smallest_u8,
)

kernels = KernelSources()


@njit(error_model="numpy")
def _widen(x):
    return np.int32(x)


@njit(error_model="numpy")
def _maximum(x, y):
    return x if x > y else y


@njit(error_model="numpy")
def _minimum(x, y):
    return x if x < y else y


@njit(error_model="numpy")
def _nothing(block):
    return 0


@njit(error_model="numpy")
def _itself(total, p):
    return total


def _row_of(row, itemsize):
    @njit(error_model="numpy")
    def gather(x, at, count):
        return row(x + at * itemsize, count)

    return gather


_ROWS = {
    "max_i8": largest_i8,
    "min_i8": smallest_i8,
    "max_u8": largest_u8,
    "min_u8": smallest_u8,
    "max_i16": largest_i16,
    "min_i16": smallest_i16,
}

for _suffix, _read, _write, _itemsize, _lowest, _highest in (
    ("i8", read_i8, write_i8, 1, -128, 127),
    ("u8", read_u8, write_u8, 1, 0, 255),
    ("i16", read_i16, write_i16, 2, -32768, 32767),
):
    for _name, _zero, _combine in (("max", _lowest, _maximum), ("min", _highest, _minimum)):
        _wide = Accumulator(np.int32(_zero), _widen, _combine, read_back_i32, write_i32, 4)
        _row = _row_of(_ROWS[f"{_name}_{_suffix}"], _itemsize)
        for _kind, _kernel in (
            ("along", along_row_kernel(_write, np.int32(_zero), _row, _combine, _nothing, _itself)),
            ("across", across_kernel(_read, _write, _wide, _nothing, _itself)),
            ("window", extremum_window_kernel(_itemsize, EXTREMUM_WINDOWS[f"{_name}_{_suffix}"])),
        ):
            kernels.add(REDUCE, f"{_name}_{_kind}_{_suffix}")(_kernel)
