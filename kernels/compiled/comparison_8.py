"""Comparisons of bytes by what they stand for; the results are bytes of 0 or 1."""

from numba import njit

from ..comparison import COMPARE_8
from .broadcast import broadcast_kernel
from .compare import COMPARISONS
from .driver.kernel_source import KernelSources
from .language.elements import read_i32, read_u8, write_u8

kernels = KernelSources()


@njit(error_model="numpy")
def _tables(block):
    return block.a_table, block.b_table


def _by_table(compare):
    @njit(error_model="numpy")
    def combine(x, y, tables):
        return compare(read_i32(tables[0], x), read_i32(tables[1], y), 0)

    return combine


for _name, _compare in COMPARISONS.items():
    kernels.add(COMPARE_8, f"{_name}_8")(broadcast_kernel(read_u8, write_u8, _tables, _by_table(_compare)))
