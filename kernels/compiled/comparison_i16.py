"""Comparisons of int16; the results are bytes of 0 or 1."""

import numpy as np
from numba import njit

from ..comparison import COMPARE, COMPARE_16
from .broadcast import broadcast_kernel
from .compare import COMPARISONS, equal, not_equal
from .driver.kernel_source import KernelSources
from .language.elements import read_i16, read_i32, read_u16, write_u8

kernels = KernelSources()


@njit(error_model="numpy")
def _nothing(block):
    return 0


@njit(error_model="numpy")
def _tables(block):
    return block.a_table, block.b_table


def _by_table(compare):
    @njit(error_model="numpy")
    def combine(x, y, tables):
        return compare(read_i32(tables[0], np.int64(x)), read_i32(tables[1], np.int64(y)), 0)

    return combine


for _name, _compare in COMPARISONS.items():
    kernels.add(COMPARE, f"{_name}_i16")(broadcast_kernel(read_i16, write_u8, _nothing, _compare))
for _name, _compare in (("equal", equal), ("not_equal", not_equal)):
    kernels.add(COMPARE_16, f"{_name}_scaled_i16")(
        broadcast_kernel(read_u16, write_u8, _tables, _by_table(_compare))
    )
