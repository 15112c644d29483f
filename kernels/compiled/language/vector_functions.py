"""Exponential functions and reciprocals of float32 vectors, as emitted code; see vector_math.py for scalars.

Within 3 units in the last place of the exact value (tanh: 7), NaN gives NaN.
"""

from __future__ import annotations

import numpy as np

from .operations import (
    permuted_floats,
    scaled_by_power,
    scaled_by_sixteenths,
)
from .simd import Emitter, Value, constant, f32, i32, suffix, vector
from .target import target

# Adding this to a float32 below 2^22 rounds it to an integer, which its low bits then hold.
_ROUNDER = 1.5 * 2.0**23
_LOG2_E = 1.44269504
# ln 2 in two parts: the first has few enough bits that its products with exponents are exact.
_LN2 = (0.693145751953125, 1.42860682030941723212e-6)
# The same in two parts of which the first is the nearest float32, (e^r - 1) / r, and the logarithm of the
# least normal number, for exp_of_negative.
_LN2_ROUNDED = (float.fromhex("0x1.62E430p-1"), float.fromhex("-0x1.05C610p-29"))
_EXP_POLYNOMIAL = (
    *(float.fromhex(c) for c in ("0x1.0F9F9Cp-7", "0x1.573A1Ap-5", "0x1.555A80p-3", "0x1.FFFDC6p-2")),
    float.fromhex("0x1.FFFFF6p-1"),
)
_LEAST_NORMAL_LOG = float.fromhex("-0x1.5D589Ep6")
# (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2, fitted for the least relative error of e^r (2^-28).
_POLYNOMIAL = (
    0.0013814554549753666,
    0.00836874544620514,
    0.04166838899254799,
    0.1666652113199234,
    0.4999999403953552,
)
# The same on |r| <= ln(2) / 32, where two terms are enough.
_SHORT_POLYNOMIAL = (1 / 6, 0.5)
_SIXTEENTHS = tuple(float(np.float32(2.0 ** (k / 16))) for k in range(16))

# tanh(x) = x * P(x^2) / Q(x^2), fitted for the least relative error (2^-25) up to 9.02; from
# _TANH_END on the quotient, rounded, is 1 at least.
_TANH_END = 8.875
_TANH_P = (
    1.403816352052445e-08,
    2.1694771930924617e-05,
    0.003682674840092659,
    0.1410207897424698,
    1.0539891719818115,
)
_TANH_Q = (
    8.181089583558787e-07,
    0.0003460344742052257,
    0.027267832309007645,
    0.49235036969184875,
    1.0539891719818115,
)


def multiply_add(e: Emitter, a: Value, b: Value, c: Value) -> Value:
    """a * b + c, rounded once where the processor can."""
    if target().fma:
        return e.fma(a, b, c)
    return e.builder.fadd(e.builder.fmul(a, b), c)


def _splat(x: Value, value: float) -> Value:
    return constant(x.type, float(np.float32(value)))


def _clamped(e: Emitter, x: Value, low: float, high: float) -> Value:
    """NaN stays NaN, being the second operand of both comparisons."""
    return e.fmin(_splat(x, high), e.fmax(_splat(x, low), x))


def _polynomial(e: Emitter, r: Value, coefficients: tuple[float, ...]) -> Value:
    """e^r - 1 = r + r^2 * polynomial(r)."""
    p = _splat(r, coefficients[0])
    for coefficient in coefficients[1:]:
        p = multiply_add(e, p, r, _splat(r, coefficient))
    return multiply_add(e, p, e.builder.fmul(r, r), r)


def _reduced(e: Emitter, x: Value, parts: int) -> tuple[Value, Value, Value]:
    """(r, n, bits of n) with x = n / parts * ln 2 + r, n an integer."""
    builder = e.builder
    shifted = multiply_add(e, x, _splat(x, _LOG2_E * parts), _splat(x, _ROUNDER))
    n = builder.fsub(shifted, _splat(x, _ROUNDER))
    r = multiply_add(e, n, _splat(x, -_LN2[0] / parts), x)
    r = multiply_add(e, n, _splat(x, -_LN2[1] / parts), r)
    return r, n, builder.bitcast(shifted, vector(i32, x.type.count))


def _power_of_two(e: Emitter, n: Value) -> Value:
    """2^n for integers (i32 lanes) in -126 .. 127."""
    lanes = vector(i32, n.type.count)
    biased = e.builder.add(n, constant(lanes, 127))
    return e.builder.bitcast(e.builder.shl(biased, constant(lanes, 23)), vector(f32, n.type.count))


def reciprocal_square_root(e: Emitter, x: Value) -> Value:
    """1 / sqrt(x): infinite at 0, NaN below it."""
    # Estimates are faster, and differ from processor to processor.
    return e.builder.fdiv(_splat(x, 1), e.call(f"llvm.sqrt.{suffix(x.type)}", x.type, x))


def _integer(e: Emitter, bits: Value) -> Value:
    return e.builder.sub(bits, constant(bits.type, 0x4B400000))


def exp(e: Emitter, x: Value) -> Value:
    """e^x for all x: 0 below -104, infinity above 88.73."""
    x = _clamped(e, x, -104, 89)
    if not target().fma:
        r, _, bits = _reduced(e, x, 1)
        value = e.builder.fadd(_polynomial(e, r, _POLYNOMIAL), _splat(x, 1))
        return scaled_by_power(e, value, _integer(e, bits))
    # 2^(n / 16) * e^r, the fraction's power looked up in a table of 16.
    r, n, bits = _reduced(e, x, 16)
    return scaled_by_sixteenths(e, _times_exp(e, _fraction(e, bits), r), n, _integer(e, bits))


def exp_of_negative(e: Emitter, x: Value) -> Value:
    """e^x for x <= 0, but 0 where that is subnormal; above 88 as of 88.

    XNNPACK's steps, for its bits where products are added with one rounding. It computes with subnormal
    numbers flushed to 0, which tells in the last results before 0.
    Source: XNNPACK src/f32-raddstoreexpminusmax, rr2-p5.
    """
    is_zero = e.builder.fcmp_ordered("<", x, _splat(x, _LEAST_NORMAL_LOG))
    x = e.fmin(_splat(x, 88), x)
    shifted = multiply_add(e, x, _splat(x, _LOG2_E), _splat(x, _ROUNDER + 127))
    n = e.builder.fsub(shifted, _splat(x, _ROUNDER + 127))
    r = x
    for part in _LN2_ROUNDED:
        r = multiply_add(e, n, _splat(x, -part), r)
    p = _splat(x, _EXP_POLYNOMIAL[0])
    for coefficient in _EXP_POLYNOMIAL[1:]:
        p = multiply_add(e, p, r, _splat(x, coefficient))
    lanes = vector(i32, x.type.count)
    # The low bits of what was rounded are the power's exponent, biased.
    power = e.builder.bitcast(e.builder.shl(e.builder.bitcast(shifted, lanes), constant(lanes, 23)), x.type)
    value = multiply_add(e, without_subnormals(e, e.builder.fmul(r, power)), p, power)
    return e.builder.select(is_zero, _splat(x, 0), value)


def without_subnormals(e: Emitter, x: Value) -> Value:
    """x, or 0 where it is nearer to that than any normal number."""
    magnitude = e.call(f"llvm.fabs.{suffix(x.type)}", x.type, x)
    is_small = e.builder.fcmp_ordered("<", magnitude, _splat(x, 2.0**-126))
    return e.builder.select(is_small, _splat(x, 0), x)


def _fraction(e: Emitter, bits: Value) -> Value:
    """2^(n % 16 / 16), n in the low bits."""
    return permuted_floats(e, _SIXTEENTHS, bits)


def _times_exp(e: Emitter, x: Value, r: Value) -> Value:
    """x * e^r for |r| <= ln(2) / 32."""
    p = multiply_add(e, r, _splat(x, _SHORT_POLYNOMIAL[0]), _splat(x, _SHORT_POLYNOMIAL[1]))
    p = multiply_add(e, p, e.builder.fmul(r, r), r)
    return multiply_add(e, p, x, x)


def _normal_exp(e: Emitter, x: Value) -> Value:
    """e^x for x clamped to -87 .. 88, where it is neither subnormal nor infinite."""
    x = _clamped(e, x, -87, 88)
    if not target().fma:
        r, _, bits = _reduced(e, x, 1)
        value = e.builder.fadd(_polynomial(e, r, _POLYNOMIAL), _splat(x, 1))
        return e.builder.fmul(value, _power_of_two(e, _integer(e, bits)))
    r, _, bits = _reduced(e, x, 16)
    # The exponent is added to the table's as integers, off the floating-point units.
    exponent = e.builder.shl(bits, constant(bits.type, 19))
    exponent = e.builder.and_(exponent, constant(bits.type, -(1 << 23)))
    power = e.builder.add(e.builder.bitcast(_fraction(e, bits), bits.type), exponent)
    return _times_exp(e, e.builder.bitcast(power, x.type), r)


def logistic(e: Emitter, x: Value) -> Value:
    """1 / (1 + e^-x); stays at its value for -88 below."""
    one = _splat(x, 1)
    return e.builder.fdiv(one, e.builder.fadd(one, _normal_exp(e, e.builder.fsub(_splat(x, -0.0), x))))


def expm1_of_negative(e: Emitter, x: Value) -> Value:
    """e^x - 1 for x <= 0."""
    x = e.fmax(_splat(x, -30), x)
    r, _, bits = _reduced(e, x, 1)
    scale = _power_of_two(e, _integer(e, bits))
    return multiply_add(e, _polynomial(e, r, _POLYNOMIAL), scale, e.builder.fsub(scale, _splat(x, 1)))


def tanh(e: Emitter, x: Value) -> Value:
    """tanh(x), within 7 units in the last place: x * P(x^2) / Q(x^2)."""
    x = _clamped(e, x, -_TANH_END, _TANH_END)
    z = e.builder.fmul(x, x)
    p, q = (_splat(z, coefficients[0]) for coefficients in (_TANH_P, _TANH_Q))
    for over, under in zip(_TANH_P[1:], _TANH_Q[1:], strict=True):
        p = multiply_add(e, p, z, _splat(z, over))
        q = multiply_add(e, q, z, _splat(z, under))
    return _clamped(e, e.builder.fdiv(e.builder.fmul(x, p), q), -1, 1)


def elu(e: Emitter, x: Value) -> Value:
    """x where it is positive, else e^x - 1."""
    negative = e.builder.fcmp_ordered("<", x, _splat(x, 0))
    return e.builder.select(negative, expm1_of_negative(e, x), x)
