"""Functions of bool tensors: bytes that are 0 or not, results of 0 or 1; and of the bits of integers."""

import numpy as np
from numba import njit

from ..elementwise import UNARY
from ..logical import LOGICAL
from .broadcast import broadcast_kernel
from .elements import (
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
from .family import KernelFamily
from .unary import unary_kernel

kernels = KernelFamily()


@njit(error_model="numpy")
def _nothing(block):
    return 0


@njit(error_model="numpy")
def _and(x, y, p):
    return np.uint8((x != 0) & (y != 0))


@njit(error_model="numpy")
def _or(x, y, p):
    return np.uint8((x | y) != 0)


@njit(error_model="numpy")
def _bits_and(x, y, p):
    return np.uint8(x & y)


@njit(error_model="numpy")
def _bits_or(x, y, p):
    return np.uint8(x | y)


def _shift_left(width, most):
    """x << y at the width of a NumPy integer type; 0 where y is not in [0, most]."""

    @njit(error_model="numpy")
    def shift_left(x, y, p):
        shifted = width(x << (y & width(most)))
        return shifted if (y >= 0) & (y <= most) else width(0)

    return shift_left


def _nothing_unary(block):
    return 0


def _not(x, p):
    return np.uint8(x == 0)


kernels.add(LOGICAL, "logical_and")(broadcast_kernel(read_u8, write_u8, _nothing, _and))
kernels.add(LOGICAL, "logical_or")(broadcast_kernel(read_u8, write_u8, _nothing, _or))
kernels.add(LOGICAL, "bits_and")(broadcast_kernel(read_u8, write_u8, _nothing, _bits_and))
kernels.add(LOGICAL, "bits_or")(broadcast_kernel(read_u8, write_u8, _nothing, _bits_or))
for _bytes, _read, _write, _width in (
    (1, read_i8, write_i8, np.int8),
    (2, read_i16, write_i16, np.int16),
    (4, read_i32, write_i32, np.int32),
    (8, read_i64, write_i64, np.int64),
):
    kernels.add(LOGICAL, f"shift_left_{_bytes}")(
        broadcast_kernel(_read, _write, _nothing, _shift_left(_width, 8 * _bytes - 1))
    )
kernels.add(UNARY, "logical_not")(unary_kernel(read_u8, write_u8, _nothing_unary, _not))
