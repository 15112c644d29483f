"""ADD, SUB and MUL on int8 and uint8, in the arithmetic of LiteRT's default (XNNPACK)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ..binary import PRODUCT_Q8, SUM_Q8
from .broadcast import broadcast_kernel, row_kernel
from .driver.kernel_source import KernelSources
from .language.elements import read_i8, read_u8, write_i8, write_u8
from .requantize import round_half_even
from .sum_q8_row import scale_row_i8, scale_row_u8, sum_row_i8, sum_row_u8

kernels = KernelSources()


def _sum_kernel(read: Any, sum_row: Any, scale_row: Any) -> Callable:
    @njit(error_model="numpy")
    def inner(block, a_at, a_step, b_at, b_step, out_at, count):
        a, b, out = block.a + a_at, block.b + b_at, block.out + out_at
        a_multiplier, b_multiplier, bias = block.a_multiplier, block.b_multiplier, block.bias
        shift, zero, low, high = block.shift, block.zero, block.low, block.high
        if a_step == 0:
            bias = np.int32(bias + np.int32(read(a, 0)) * a_multiplier)
            scale_row(b, out, count, b_multiplier, bias, shift, zero, low, high)
        elif b_step == 0:
            bias = np.int32(bias + np.int32(read(b, 0)) * b_multiplier)
            scale_row(a, out, count, a_multiplier, bias, shift, zero, low, high)
        else:
            sum_row(a, b, out, count, a_multiplier, b_multiplier, bias, shift, zero, low, high)

    return row_kernel(inner)


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


for _suffix, _read, _write, _sum_row, _scale_row in (
    ("i8", read_i8, write_i8, sum_row_i8, scale_row_i8),
    ("u8", read_u8, write_u8, sum_row_u8, scale_row_u8),
):
    kernels.add(SUM_Q8, f"sum_{_suffix}")(_sum_kernel(_read, _sum_row, _scale_row))
    kernels.add(PRODUCT_Q8, f"product_{_suffix}")(
        broadcast_kernel(_read, _write, _product_parameters, _product)
    )
