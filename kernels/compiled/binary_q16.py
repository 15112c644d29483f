"""The sum of two int16 operands of one shape, as LiteRT's default computes it on x86."""

import numpy as np
from numba import njit

from ..binary import SUM_Q8_REFERENCE
from .binary_q8_reference import reference_sum, sum_parameters
from .driver.kernel_source import KernelSources
from .language.elements import read_i16, write_i16
from .requantize import requantize_double_rounding

kernels = KernelSources()

# Elements of a vector of LiteRT's: those behind the last whole one are rounded as the reference does.
_VECTOR = 16


@njit(error_model="numpy")
def _rounded_once(x, operand, left_shift):
    """The operand at the common scale, which is at least twice its own: ties go upwards."""
    zero, multiplier, shift = operand
    shifted = (np.int64(x) - zero) << left_shift
    return np.int32((shifted * np.int64(multiplier) + (np.int64(1) << (30 - shift))) >> (31 - shift))


@njit(error_model="numpy")
def _sum(x, y, p):
    a, b, left_shift, _, output = p
    total = np.int32(_rounded_once(x, a, left_shift) + _rounded_once(y, b, left_shift))
    return requantize_double_rounding(total, *output)


@kernels.add(SUM_Q8_REFERENCE)
def sum_i16(block, chunk, chunks):
    a, b, out, p = block.a, block.b, block.out, sum_parameters(block)
    size = block.shape[-1]
    first, last = size * chunk // chunks, size * (chunk + 1) // chunks
    whole = min(max(size // _VECTOR * _VECTOR, first), last)
    for i in range(first, whole):
        write_i16(out, i, _sum(read_i16(a, i), read_i16(b, i), p))
    for i in range(whole, last):
        write_i16(out, i, reference_sum(read_i16(a, i), read_i16(b, i), p))
    return 0
