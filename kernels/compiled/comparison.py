"""Comparisons of two broadcast operands; the results are bytes of 0 or 1."""

import numpy as np
from numba import njit

from ..comparison import COMPARE, COMPARE_8
from .broadcast import broadcast_kernel
from .elements import read_f32, read_i32, read_i64, read_u8, write_u8
from .family import KernelFamily

kernels = KernelFamily()


@njit(error_model="numpy")
def _nothing(block):
    return 0


@njit(error_model="numpy")
def _tables(block):
    return block.a_table, block.b_table


@njit(error_model="numpy")
def _equal(x, y, p):
    return np.uint8(x == y)


@njit(error_model="numpy")
def _not_equal(x, y, p):
    return np.uint8(x != y)


@njit(error_model="numpy")
def _less(x, y, p):
    return np.uint8(x < y)


@njit(error_model="numpy")
def _less_equal(x, y, p):
    return np.uint8(x <= y)


def _by_table(compare):
    @njit(error_model="numpy")
    def combine(x, y, tables):
        return compare(read_i32(tables[0], x), read_i32(tables[1], y), 0)

    return combine


for _name, _compare in (
    ("equal", _equal),
    ("not_equal", _not_equal),
    ("less", _less),
    ("less_equal", _less_equal),
):
    for _suffix, _read in (("f32", read_f32), ("i32", read_i32), ("i64", read_i64)):
        kernels.add(COMPARE, f"{_name}_{_suffix}")(broadcast_kernel(_read, write_u8, _nothing, _compare))
    kernels.add(COMPARE_8, f"{_name}_8")(broadcast_kernel(read_u8, write_u8, _tables, _by_table(_compare)))
