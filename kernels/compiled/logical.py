"""Functions of bool tensors: bytes that are 0 or not, results of 0 or 1."""

import numpy as np
from numba import njit

from ..elementwise import UNARY
from ..logical import LOGICAL
from .broadcast import broadcast_kernel
from .driver.kernel_source import KernelSources
from .language.elements import read_u8, write_u8
from .unary import unary_kernel

kernels = KernelSources()


@njit(error_model="numpy")
def _nothing(block):
    return 0


@njit(error_model="numpy")
def _and(x, y, p):
    return np.uint8((x != 0) & (y != 0))


@njit(error_model="numpy")
def _or(x, y, p):
    return np.uint8((x | y) != 0)


def _nothing_unary(block):
    return 0


def _not(x, p):
    return np.uint8(x == 0)


kernels.add(LOGICAL, "logical_and")(broadcast_kernel(read_u8, write_u8, _nothing, _and))
kernels.add(LOGICAL, "logical_or")(broadcast_kernel(read_u8, write_u8, _nothing, _or))
kernels.add(UNARY, "logical_not")(unary_kernel(read_u8, write_u8, _nothing_unary, _not))
