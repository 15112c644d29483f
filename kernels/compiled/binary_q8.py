"""ADD, SUB and MUL on int8 and uint8, in the arithmetic of LiteRT's default (XNNPACK)."""

import numpy as np
from numba import njit

from ..binary import PRODUCT_Q8, SUM_Q8
from .broadcast import broadcast_kernel
from .elements import read_i8, read_u8, write_i8, write_u8
from .family import KernelFamily
from .requantize import round_half_even

kernels = KernelFamily()


@njit(error_model="numpy")
def _sum_parameters(block):
    low, high = np.int32(block.low - block.zero), np.int32(block.high - block.zero)
    return (block.a_multiplier, block.b_multiplier, block.bias, block.shift, block.zero, low, high)


@njit(error_model="numpy")
def _sum(x, y, p):
    a_multiplier, b_multiplier, bias, shift, zero, low, high = p
    products = np.int32(np.int32(x) * a_multiplier) + np.int32(np.int32(y) * b_multiplier)
    scaled = np.int32(np.int32(products + bias) >> shift)
    scaled = low if scaled < low else scaled
    scaled = high if scaled > high else scaled
    return np.int32(scaled + zero)


@njit(error_model="numpy")
def _product_parameters(block):
    low, high = np.float32(block.low - block.zero), np.float32(block.high - block.zero)
    return (block.a_zero, block.b_zero, block.scale, block.zero, low, high)


@njit(error_model="numpy")
def _product(x, y, p):
    a_zero, b_zero, scale, zero, low, high = p
    product = np.int32(np.int32(np.int32(x) - a_zero) * np.int32(np.int32(y) - b_zero))
    scaled = np.float32(product) * scale
    scaled = low if scaled < low else scaled
    scaled = high if scaled > high else scaled
    return np.int32(round_half_even(scaled) + zero)


for _suffix, _read, _write in (("i8", read_i8, write_i8), ("u8", read_u8, write_u8)):
    kernels.add(SUM_Q8, f"sum_{_suffix}")(broadcast_kernel(_read, _write, _sum_parameters, _sum))
    kernels.add(PRODUCT_Q8, f"product_{_suffix}")(
        broadcast_kernel(_read, _write, _product_parameters, _product)
    )
