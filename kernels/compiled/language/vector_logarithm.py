"""The natural logarithm of float32 vectors, as emitted code, where there is FMA; else see vector_math.py."""

from __future__ import annotations

import math

import numpy as np

from .operations import exponent_and_mantissa, permuted_floats
from .simd import Emitter, Value, constant, i32, vector

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


def _looked_up(e: Emitter, table: tuple[float, ...], index: Value) -> Value:
    return permuted_floats(e, [float(np.float32(value)) for value in table], index)


def log(e: Emitter, x: Value) -> Value:
    """ln(x) for all x: -infinity at 0, NaN below it."""
    builder = e.builder
    exponent, mantissa = exponent_and_mantissa(e, x)
    lanes = vector(i32, x.type.count)
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
