"""Largest and smallest stored values of quantized and boolean tensors."""

import numpy as np
from numba import njit

from ..reduce import REDUCE
from .elements import read_back_i32, read_i8, read_i16, read_u8, write_i8, write_i16, write_i32, write_u8
from .family import KernelFamily
from .reduction import Accumulator, across_kernel, along_kernel

kernels = KernelFamily()


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


for _suffix, _read, _write, _lowest, _highest in (
    ("i8", read_i8, write_i8, -128, 127),
    ("u8", read_u8, write_u8, 0, 255),
    ("i16", read_i16, write_i16, -32768, 32767),
):
    for _name, _zero, _combine in (("max", _lowest, _maximum), ("min", _highest, _minimum)):
        _wide = Accumulator(np.int32(_zero), _widen, _combine, read_back_i32, write_i32, 4)
        for _kind, _kernel in (("along", along_kernel), ("across", across_kernel)):
            kernels.add(REDUCE, f"{_name}_{_kind}_{_suffix}")(
                _kernel(_read, _write, _wide, _nothing, _itself)
            )
