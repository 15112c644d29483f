"""Reductions of integers without quantization."""

import numpy as np
from numba import njit

from ..reduce import REDUCE
from .driver.kernel_source import KernelSources
from .language.elements import read_back_i64, read_i32, read_i64, write_i32, write_i64
from .reduction import Accumulator, across_kernel, along_kernel

kernels = KernelSources()


@njit(error_model="numpy")
def _to_i64(x):
    return np.int64(x)


@njit(error_model="numpy")
def _add(x, y):
    return np.int64(x + y)


@njit(error_model="numpy")
def _multiply(x, y):
    return np.int64(x * y)


@njit(error_model="numpy")
def _maximum(x, y):
    return x if x > y else y


@njit(error_model="numpy")
def _minimum(x, y):
    return x if x < y else y


@njit(error_model="numpy")
def _count(block):
    return block.count


@njit(error_model="numpy")
def _itself(total, count):
    return total


@njit(error_model="numpy")
def _mean(total, count):
    """Truncated towards zero; 0 of no elements."""
    magnitude = abs(total) // max(count, 1)
    return -magnitude if total < 0 else magnitude


def _narrow(finish, width):
    @njit(error_model="numpy")
    def narrowed(total, count):
        return width(finish(total, count))

    return narrowed


for _suffix, _read, _write, _width in (
    ("i32", read_i32, write_i32, np.int32),
    ("i64", read_i64, write_i64, np.int64),
):
    _limits = np.iinfo(_width)
    for _name, _zero, _combine, _finish in (
        ("mean", 0, _add, _mean),
        ("sum", 0, _add, _itself),
        ("prod", 1, _multiply, _itself),
        ("max", _limits.min, _maximum, _itself),
        ("min", _limits.max, _minimum, _itself),
    ):
        _wide = Accumulator(np.int64(_zero), _to_i64, _combine, read_back_i64, write_i64, 8)
        for _kind, _kernel in (("along", along_kernel), ("across", across_kernel)):
            kernels.add(REDUCE, f"{_name}_{_kind}_{_suffix}")(
                _kernel(_read, _write, _wide, _count, _narrow(_finish, _width))
            )
