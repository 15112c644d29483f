"""Functions of the bits of integers of one shape."""

import numpy as np
from numba import njit

from ..logical import FLAT
from .driver.kernel_source import KernelSources
from .flat import flat_kernel
from .language.elements import (
    read_i8,
    read_i16,
    read_i32,
    read_i64,
    read_u8,
    write_i8,
    write_i16,
    write_i32,
    write_i64,
    write_u8,
)

kernels = KernelSources()


@njit(error_model="numpy")
def _and(x, y):
    return np.uint8(x & y)


@njit(error_model="numpy")
def _or(x, y):
    return np.uint8(x | y)


def _shift_left(width, most):
    """x << y at the width of a NumPy integer type; 0 where y is not in [0, most]."""

    @njit(error_model="numpy")
    def shift_left(x, y):
        shifted = width(x << (y & width(most)))
        return shifted if (y >= 0) & (y <= most) else width(0)

    return shift_left


kernels.add(FLAT, "bits_and")(flat_kernel(read_u8, write_u8, _and))
kernels.add(FLAT, "bits_or")(flat_kernel(read_u8, write_u8, _or))
for _bytes, _read, _write, _width in (
    (1, read_i8, write_i8, np.int8),
    (2, read_i16, write_i16, np.int16),
    (4, read_i32, write_i32, np.int32),
    (8, read_i64, write_i64, np.int64),
):
    kernels.add(FLAT, f"shift_left_{_bytes}")(flat_kernel(_read, _write, _shift_left(_width, 8 * _bytes - 1)))
