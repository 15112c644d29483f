"""Operators on two bytes by a table of all their results."""

import numpy as np
from numba import njit

from ..binary import BINARY_TABLE
from .broadcast import broadcast_kernel
from .elements import read_u8, write_u8
from .family import KernelFamily

kernels = KernelFamily()


@njit(error_model="numpy")
def _table(block):
    return block.table


@njit(error_model="numpy")
def _looked_up(x, y, table):
    return read_u8(table, np.int64(x) * 256 + np.int64(y))


kernels.add(BINARY_TABLE, "table_u8")(broadcast_kernel(read_u8, write_u8, _table, _looked_up))
