"""Binary operators on float16 of one shape: the results of float32, rounded."""

import numpy as np
from numba import njit

from ..logical import FLAT
from .driver.kernel_source import KernelSources
from .flat import flat_kernel
from .language.elements import read_i16, write_i16
from .language.half_bits import from_half, is_less, to_half

kernels = KernelSources()


@njit(error_model="numpy")
def _add(x, y):
    return to_half(np.float32(from_half(x) + from_half(y)))


@njit(error_model="numpy")
def _sub(x, y):
    return to_half(np.float32(from_half(x) - from_half(y)))


@njit(error_model="numpy")
def _mul(x, y):
    return to_half(np.float32(from_half(x) * from_half(y)))


@njit(error_model="numpy")
def _div(x, y):
    return to_half(np.float32(from_half(x) / from_half(y)))


@njit(error_model="numpy")
def _maximum(x, y):
    return x if is_less(y, x) else y


@njit(error_model="numpy")
def _minimum(x, y):
    return x if is_less(x, y) else y


for _name, _combine in (
    ("add_f16", _add),
    ("sub_f16", _sub),
    ("mul_f16", _mul),
    ("div_f16", _div),
    ("maximum_f16", _maximum),
    ("minimum_f16", _minimum),
):
    kernels.add(FLAT, _name)(flat_kernel(read_i16, write_i16, _combine))
