"""Quantized DIV in fixed point, by the reciprocal of each divisor."""

import numpy as np
from numba import njit, types

from ..quantized_div import DIVISION_BY_ZERO, QUANTIZED_DIV
from .broadcast import broadcast_kernel
from .driver.kernel_source import KernelSources
from .fixed_point import divide_by_power, high_multiply, reciprocal_of_one_plus
from .language.elements import float_bits, read_i8, read_i16, read_u8, write_i8, write_i16, write_u8

kernels = KernelSources()


@njit(error_model="numpy")
def _bit_length(x):
    """Bits of an integer in 0 .. 2**24 - 1."""
    return np.int64(float_bits(np.float32(x)) >> 23) - 126 if x > 0 else np.int64(0)


@njit(error_model="numpy")
def _divided(x, exponent):
    """x / 2**exponent as LiteRT has it on x86, whose shifts count modulo 32.

    Exponents below 0 are of int16 quotients that are far too large.
    """
    if not 0 <= exponent <= 31:
        return (x >> (exponent & 31)) + (1 if x >= 0 else 0)
    return divide_by_power(x, exponent)


@njit(error_model="numpy")
def _parameters(block):
    zeros = np.int64(block.a_zero), np.int64(block.b_zero), np.int64(block.zero)
    return (*zeros, np.int64(block.multiplier), np.int64(block.shift), block.low, block.high)


def _quotient(type_):
    @njit(error_model="numpy")
    def quotient(x, y, p):
        a_zero, b_zero, zero, multiplier, shift, low, high = p
        dividend, divisor = np.int64(x) - a_zero, np.int64(y) - b_zero
        if divisor < 0:
            dividend, divisor = -dividend, -divisor
        bits = _bit_length(divisor)
        inverse = reciprocal_of_one_plus((divisor << (32 - bits)) - (np.int64(1) << 31))
        headroom = 31 - _bit_length(~dividend if dividend < 0 else dividend)
        scaled = high_multiply(high_multiply(dividend << headroom, inverse), multiplier)
        result = _divided(scaled, headroom + bits - 1 - shift) + zero
        return type_(min(max(result, np.int64(low)), np.int64(high)))

    return quotient


def checked(read, divide):
    """A kernel that first looks for divisors that stand for 0."""
    divide = njit(error_model="numpy")(divide)

    def kernel(block, chunk, chunks):
        count = 1
        for d in range(len(block.shape)):
            if block.b_strides[d] != 0:
                count *= block.shape[d]
        for i in range(count):
            if read(block.b, i) == block.b_zero:
                return DIVISION_BY_ZERO
        return divide(block, chunk, chunks)

    return kernel


for _suffix, _read, _write, _type in (
    ("i8", read_i8, write_i8, types.int8),
    ("u8", read_u8, write_u8, types.uint8),
    ("i16", read_i16, write_i16, types.int16),
):
    kernels.add(QUANTIZED_DIV, f"div_{_suffix}")(
        checked(_read, broadcast_kernel(_read, _write, _parameters, _quotient(_type)))
    )
