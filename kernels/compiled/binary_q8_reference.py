"""Quantized sums, products and squared differences in the arithmetic of TFLite's reference kernels."""

import numpy as np
from numba import njit

from ..binary import PRODUCT_Q8_REFERENCE, SUM_Q8_REFERENCE
from .broadcast import broadcast_kernel
from .driver.kernel_source import KernelSources
from .language.elements import read_i8, read_i16, read_u8, write_i8, write_i16, write_u8
from .requantize import multiply_by_quantized_multiplier, requantize_double_rounding

kernels = KernelSources()


@njit(error_model="numpy")
def sum_parameters(block):
    a = (block.a_zero, block.a_multiplier, block.a_shift)
    b = (block.b_zero, block.b_multiplier, block.b_shift)
    return (
        a,
        b,
        block.left_shift,
        block.b_sign,
        (block.multiplier, block.shift, block.zero, block.low, block.high),
    )


@njit(error_model="numpy")
def _to_common_scale(x, operand, left_shift):
    zero, multiplier, shift = operand
    shifted = np.int32(np.int32(np.int32(x) - zero) << left_shift)
    return multiply_by_quantized_multiplier(shifted, multiplier, shift)


@njit(error_model="numpy")
def reference_sum(x, y, p):
    a, b, left_shift, b_sign, output = p
    total = np.int32(_to_common_scale(x, a, left_shift) + b_sign * _to_common_scale(y, b, left_shift))
    return requantize_double_rounding(total, *output)


@njit(error_model="numpy")
def _squared_difference(x, y, p):
    a, b, left_shift, _, output = p
    difference = np.int32(_to_common_scale(x, a, left_shift) - _to_common_scale(y, b, left_shift))
    return requantize_double_rounding(np.int32(difference * difference), *output)


@njit(error_model="numpy")
def _product_parameters(block):
    return block.a_zero, block.b_zero, (block.multiplier, block.shift, block.zero, block.low, block.high)


@njit(error_model="numpy")
def _product(x, y, p):
    a_zero, b_zero, output = p
    product = np.int32((np.int32(x) - a_zero) * (np.int32(y) - b_zero))
    return requantize_double_rounding(product, *output)


for _suffix, _read, _write in (
    ("i8", read_i8, write_i8),
    ("u8", read_u8, write_u8),
    ("i16", read_i16, write_i16),
):
    for _name, _block, _parameters, _combine in (
        ("sum", SUM_Q8_REFERENCE, sum_parameters, reference_sum),
        ("squared_difference", SUM_Q8_REFERENCE, sum_parameters, _squared_difference),
        ("product", PRODUCT_Q8_REFERENCE, _product_parameters, _product),
    ):
        kernels.add(_block, f"{_name}_reference_{_suffix}")(
            broadcast_kernel(_read, _write, _parameters, _combine)
        )
