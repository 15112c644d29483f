"""Rows of float32 powers: by float64 logarithms, in vector code for ordinary operands."""

import math

import numpy as np
from numba import njit

from .language.elements import double_bits, double_from_bits, read_f32, write_f32
from .language.scalar_math import pow_f32

_BLOCK = 256
_LARGEST = np.float32(3.4028234663852886e38)
_SMALLEST_NORMAL = np.float32(2.0**-126)
_SQRT_HALF_BITS = np.int64(0x3FE6A09E667F3BCD)
_ONE_BITS = np.int64(0x3FF0000000000000)
# Adding this to a float64 below 2^51 rounds it to an integer, which its low bits then hold.
_ROUNDER = 1.5 * 2.0**52
_ROUNDER_BITS = np.int64(0x4338000000000000)
_LOG2_E_TWICE = 2 / math.log(2)
# ln(m) = 2 * (s + s^3 / 3 + s^5 / 5 ...) with s = (m - 1) / (m + 1): 2^-38 after seven terms.
_ODD = tuple(1 / k for k in (13, 11, 9, 7, 5, 3, 1))
# Powers of ln(2) over factorials: 2^r for |r| <= 1/2, 2^-31 after ten terms.
_EXP2 = tuple(math.log(2) ** k / math.factorial(k) for k in range(9, -1, -1))


@njit(error_model="numpy", fastmath={"contract"}, inline="never")
def _power(x, y):
    """x^y for normal positive x and finite y, rounded from about 31 bits; beyond 2^192 infinite, or 0."""
    bits = double_bits(np.float64(x))
    exponent = np.int64(bits - _SQRT_HALF_BITS) >> np.int64(52)
    m = double_from_bits(np.int64(bits - (exponent << np.int64(52))))
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    p = 0.0
    for term in _ODD:
        p = p * z + term
    # The exponent as a float64, by its bits: not all processors convert int64 vectors.
    whole = double_from_bits(np.int64(exponent + _ROUNDER_BITS)) - _ROUNDER
    turns = np.float64(y) * (whole + _LOG2_E_TWICE * (s * p))
    turns = min(max(turns, -192.0), 192.0)
    shifted = turns + _ROUNDER
    r = turns - (shifted - _ROUNDER)
    e = 0.0
    for term in _EXP2:
        e = e * r + term
    scale = double_from_bits(np.int64(((double_bits(shifted) - _ROUNDER_BITS) << np.int64(52)) + _ONE_BITS))
    return np.float32(e * scale)


@njit(error_model="numpy")
def _repeated(x, count, exponent, out):
    """Squares, cubes and fourth powers."""
    if exponent == 2:
        for i in range(count):
            v = read_f32(x, i)
            write_f32(out, i, v * v)
    elif exponent == 3:
        for i in range(count):
            v = read_f32(x, i)
            write_f32(out, i, v * v * v)
    else:
        for i in range(count):
            v = read_f32(x, i)
            square = v * v
            write_f32(out, i, square * square)


@njit(error_model="numpy")
def _block(a, a_step, b, b_step, out, count):
    ordinary = np.int32(1)
    for i in range(count):
        x, y = read_f32(a, i * a_step), read_f32(b, i * b_step)
        ordinary &= np.int32((x >= _SMALLEST_NORMAL) & (x <= _LARGEST) & (abs(y) <= _LARGEST))
    if ordinary == 0:
        for i in range(count):
            write_f32(out, i, pow_f32(read_f32(a, i * a_step), read_f32(b, i * b_step)))
    elif a_step == 0:
        x = read_f32(a, 0)
        for i in range(count):
            write_f32(out, i, _power(x, read_f32(b, i)))
    elif b_step == 0:
        y = read_f32(b, 0)
        for i in range(count):
            write_f32(out, i, _power(read_f32(a, i), y))
    else:
        for i in range(count):
            write_f32(out, i, _power(read_f32(a, i), read_f32(b, i)))


@njit(error_model="numpy")
def powers(a, a_step, b, b_step, out, count):
    """out[i] = a[i * a_step]^b[i * b_step] at addresses of float32; steps are 0 or 1."""
    if b_step == 0 and a_step == 1:
        y = read_f32(b, 0)
        if y == 2 or y == 3 or y == 4:
            _repeated(a, count, y, out)
            return
    for first in range(0, count, _BLOCK):
        size = min(_BLOCK, count - first)
        at = 4 * first
        _block(a + at * a_step, a_step, b + at * b_step, b_step, out + at, size)
