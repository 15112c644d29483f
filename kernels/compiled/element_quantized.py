"""Quantized functions of two elements, as scalars; and the sums that have vector code."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ..element_functions import form_of
from .element_loops import parameters, row_kernel
from .fixed_point import divide_by_power, high_multiply, reciprocal_of_one_plus
from .language.elements import float_bits, read_i16, write_i16
from .product_q8_row import product_rows
from .requantize import multiply_by_quantized_multiplier, requantize_double_rounding, round_half_even
from .sum_q8_row import sum_rows

# Elements of a vector of LiteRT's: those behind the last whole one are rounded as the reference does.
_VECTOR = 16

_scalar = njit(error_model="numpy")


@_scalar
def _product(x, y, a_zero, b_zero, zero, low, high, scale):
    product = np.int32(np.int32(np.int32(x) - a_zero) * np.int32(np.int32(y) - b_zero))
    scaled = np.float32(product) * scale
    lowest, highest = np.float32(low - zero), np.float32(high - zero)
    scaled = lowest if scaled < lowest else scaled
    scaled = highest if scaled > highest else scaled
    return np.int32(round_half_even(scaled) + zero)


@_scalar
def _product_reference(x, y, a_zero, b_zero, multiplier, shift, zero, low, high):
    product = np.int32((np.int32(x) - a_zero) * (np.int32(y) - b_zero))
    return requantize_double_rounding(product, multiplier, shift, zero, low, high)


@_scalar
def _to_common_scale(x, operand, left_shift):
    zero, multiplier, shift = operand
    shifted = np.int32(np.int32(np.int32(x) - zero) << left_shift)
    return multiply_by_quantized_multiplier(shifted, multiplier, shift)


@_scalar
def _sum_reference(x, y, *p):
    left_shift, a, b, b_sign, output = p[0], p[1:4], p[4:7], p[7], p[8:]
    total = np.int32(_to_common_scale(x, a, left_shift) + b_sign * _to_common_scale(y, b, left_shift))
    return requantize_double_rounding(total, *output)


@_scalar
def _squared_difference(x, y, *p):
    left_shift, a, b, output = p[0], p[1:4], p[4:7], p[8:13]
    difference = np.int32(_to_common_scale(x, a, left_shift) - _to_common_scale(y, b, left_shift))
    return requantize_double_rounding(np.int32(difference * difference), *output)


def _prelu(low: int, high: int) -> Callable:
    @_scalar
    def prelu(x, slope, a_zero, b_zero, zero, multiplier, shift, slope_multiplier, slope_shift):
        offset = np.int32(x) - a_zero
        if offset >= 0:
            scaled = multiply_by_quantized_multiplier(offset, multiplier, shift)
        else:
            product = offset * (np.int32(slope) - b_zero)
            scaled = multiply_by_quantized_multiplier(product, slope_multiplier, slope_shift)
        return min(max(np.int64(scaled) + zero, low), high)

    return prelu


@_scalar
def _bit_length(x):
    """Bits of an integer in 0 .. 2**24 - 1."""
    return np.int64(float_bits(np.float32(x)) >> 23) - 126 if x > 0 else np.int64(0)


@_scalar
def _divided(x, exponent):
    """x / 2**exponent as LiteRT has it on x86, whose shifts count modulo 64, and modulo 32 of an int32.

    Exponents below 0 are of quotients that are far too large, those above 31 of far too small ones.
    """
    places = exponent & 31
    if exponent & 32:
        return (x >> places) + (1 if x >= 0 else 0)
    return divide_by_power(x, places)


@_scalar
def _quotient(x, y, a_zero, b_zero, zero, multiplier, shift, low, high):
    """In fixed point, by the reciprocal of the divisor."""
    dividend, divisor = np.int64(x) - a_zero, np.int64(y) - b_zero
    if divisor < 0:
        dividend, divisor = -dividend, -divisor
    bits = _bit_length(divisor)
    inverse = reciprocal_of_one_plus((divisor << (32 - bits)) - (np.int64(1) << 31))
    headroom = 31 - _bit_length(~dividend if dividend < 0 else dividend)
    scaled = high_multiply(high_multiply(dividend << headroom, inverse), np.int64(multiplier))
    result = _divided(scaled, headroom + bits - 1 - shift) + zero
    return min(max(result, np.int64(low)), np.int64(high))


def requantize(lowest: int, highest: int) -> Callable:
    """From one quantized type to one of that range."""

    def convert(x, x_zero, multiplier, shift, y_zero):
        offset = np.int32(np.int32(x) - x_zero)
        return requantize_double_rounding(offset, multiplier, shift, y_zero, lowest, highest)

    return convert


# By function, or by kernel.
QUANTIZED: dict[str, Callable] = {
    "product": _product,
    "product_reference": _product_reference,
    "sum_reference": _sum_reference,
    "squared_difference_reference": _squared_difference,
    "prelu_i8": _prelu(-128, 127),
    "prelu_u8": _prelu(0, 255),
    "prelu_i16": _prelu(-32768, 32767),
    "div": _quotient,
}


def sum_kernel(read: Any, signed: bool) -> Callable:
    """The kernel of sums of bytes."""
    sum_row, scale_row = sum_rows(signed)

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


def product_row(read: Any, signed: bool) -> Callable:
    """A row of products of bytes, rounded in float32."""
    product, multiple = product_rows(signed)

    @njit(error_model="numpy")
    def row(block, a_at, a_step, b_at, b_step, out_at, count):
        a, b, out = block.a + a_at, block.b + b_at, block.out + out_at
        a_zero, b_zero = block.a_zero, block.b_zero
        scale, zero, low, high = block.scale, block.zero, block.low, block.high
        if a_step == 0:
            one = np.int32(np.int32(read(a, 0)) - a_zero)
            multiple(b, out, count, b_zero, one, scale, zero, low, high)
        elif b_step == 0:
            one = np.int32(np.int32(read(b, 0)) - b_zero)
            multiple(a, out, count, a_zero, one, scale, zero, low, high)
        else:
            product(a, b, out, count, a_zero, b_zero, scale, zero, low, high)

    return row


@_scalar
def _rounded_once(x, operand, left_shift):
    """The operand at the common scale, which is at least twice its own: ties go upwards."""
    zero, multiplier, shift = operand
    shifted = (np.int64(x) - zero) << left_shift
    return np.int32((shifted * np.int64(multiplier) + (np.int64(1) << (30 - shift))) >> (31 - shift))


@_scalar
def _sum_i16(x, y, *p):
    left_shift, a, b, output = p[0], p[1:4], p[4:7], p[8:]
    total = np.int32(_rounded_once(x, a, left_shift) + _rounded_once(y, b, left_shift))
    return requantize_double_rounding(total, *output)


_SUM = parameters(" ".join(form_of("sum", "i16").parameters()))


def sum_i16(block, chunk, chunks):
    """The kernel of sums of int16 of one shape, as LiteRT's default computes them on x86."""
    a, b, out, p = block.a, block.b, block.out, _SUM(block)
    size = block.shape[-1]
    first, last = size * chunk // chunks, size * (chunk + 1) // chunks
    whole = min(max(size // _VECTOR * _VECTOR, first), last)
    for i in range(first, whole):
        write_i16(out, i, _sum_i16(read_i16(a, i), read_i16(b, i), *p))
    for i in range(whole, last):
        write_i16(out, i, _sum_reference(read_i16(a, i), read_i16(b, i), *p))
    return 0
