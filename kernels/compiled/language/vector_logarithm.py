"""The natural logarithm of float32 vectors with AVX-512, as emitted code; see vector_math.py for others."""

from __future__ import annotations

import math

import numpy as np

from .simd import Emitter, Value, constant, f32, i16, i32, vector

# ln 2 in two parts: the first has few enough bits that its products with exponents are exact.
_LN2_HIGH, _LN2_LOW = 0.693145751953125, 1.42860682030941723212e-6
# (ln(1 + f) - f) / f^2 for -1/31.9 <= f <= 1/15.9, fitted for the least relative error of ln (2^-28).
_POLYNOMIAL = (0.18835299602118524, -0.25005866139072697, 0.333344710773202, -0.5000000156724231)
# Mantissas in [3/4, 3/2), by their highest 4 bits: about the inverse of the middle of such an
# interval, exactly 1 on both sides of 1.
_INVERSES = (
    1.0,
    *(float(np.float32(1 / (1 + (k + 0.5) / 16))) for k in range(1, 8)),
    *(float(np.float32(2 / (1 + (k + 0.5) / 16))) for k in range(8, 15)),
    1.0,
)
_CURRENT_ROUNDING, _ALL_LANES = constant(i32, 4), constant(i16, -1)
# The interval [3/4, 3/2), and NaN of what is negative.
_MANTISSA_OF_POSITIVE = constant(i32, 0b1011)


def _exponent(e: Emitter, x: Value) -> Value:
    """floor(log2(|x|)); -infinity of 0."""
    name = "llvm.x86.avx512.mask.getexp.ps.512"
    return e.call(name, x.type, x, x, _ALL_LANES, _CURRENT_ROUNDING)


def _looked_up(e: Emitter, table: tuple[float, ...], index: Value) -> Value:
    float_type = vector(f32, 16)
    values = constant(float_type, [float(np.float32(value)) for value in table])
    return e.call("llvm.x86.avx512.permvar.sf.512", float_type, values, index)


def log(e: Emitter, x: Value) -> Value:
    """ln(x) for all x: -infinity at 0, NaN below it."""
    builder = e.builder
    name = "llvm.x86.avx512.mask.getmant.ps.512"
    mantissa = e.call(name, x.type, x, _MANTISSA_OF_POSITIVE, x, _ALL_LANES, _CURRENT_ROUNDING)
    exponent = builder.fsub(_exponent(e, x), _exponent(e, mantissa))
    lanes = vector(i32, 16)
    index = builder.lshr(builder.bitcast(mantissa, lanes), constant(lanes, 19))
    f = e.fma(mantissa, _looked_up(e, _INVERSES, index), constant(x.type, -1.0))
    p = constant(x.type, float(np.float32(_POLYNOMIAL[0])))
    for coefficient in _POLYNOMIAL[1:]:
        p = e.fma(p, f, constant(x.type, float(np.float32(coefficient))))
    small = e.fma(p, builder.fmul(f, f), f)
    logarithms = tuple(-math.log(inverse) for inverse in _INVERSES)
    total = builder.fadd(small, _looked_up(e, logarithms, index))
    total = e.fma(exponent, constant(x.type, float(np.float32(_LN2_LOW))), total)
    return e.fma(exponent, constant(x.type, _LN2_HIGH), total)
