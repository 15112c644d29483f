"""ADD, SUB and MUL on int8 and uint8, in the fixed-point arithmetic of TFLite's reference kernels."""

import numpy as np
from numba import njit

from ..binary import PRODUCT_Q8_REFERENCE, SUM_LEFT_SHIFT, SUM_Q8_REFERENCE
from .broadcast import broadcast_kernel
from .elements import read_i8, read_u8, write_i8, write_u8
from .family import KernelFamily
from .requantize import multiply_by_quantized_multiplier, requantize_double_rounding

kernels = KernelFamily()


@njit(error_model="numpy")
def _sum_parameters(block):
    a = (block.a_zero, block.a_multiplier, block.a_shift)
    b = (block.b_zero, block.b_multiplier, block.b_shift)
    return a, b, block.b_sign, (block.multiplier, block.shift, block.zero, block.low, block.high)


@njit(error_model="numpy")
def _to_common_scale(x, operand):
    zero, multiplier, shift = operand
    shifted = np.int32(np.int32(np.int32(x) - zero) << np.int32(SUM_LEFT_SHIFT))
    return multiply_by_quantized_multiplier(shifted, multiplier, shift)


@njit(error_model="numpy")
def _sum(x, y, p):
    a, b, b_sign, output = p
    total = np.int32(_to_common_scale(x, a) + b_sign * _to_common_scale(y, b))
    return requantize_double_rounding(total, *output)


@njit(error_model="numpy")
def _product_parameters(block):
    return block.a_zero, block.b_zero, (block.multiplier, block.shift, block.zero, block.low, block.high)


@njit(error_model="numpy")
def _product(x, y, p):
    a_zero, b_zero, output = p
    product = np.int32((np.int32(x) - a_zero) * (np.int32(y) - b_zero))
    return requantize_double_rounding(product, *output)


for _suffix, _read, _write in (("i8", read_i8, write_i8), ("u8", read_u8, write_u8)):
    kernels.add(SUM_Q8_REFERENCE, f"sum_reference_{_suffix}")(
        broadcast_kernel(_read, _write, _sum_parameters, _sum)
    )
    kernels.add(PRODUCT_Q8_REFERENCE, f"product_reference_{_suffix}")(
        broadcast_kernel(_read, _write, _product_parameters, _product)
    )
