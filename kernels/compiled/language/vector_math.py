"""Float32 functions without branches or calls, which LLVM vectorises inside loops.

Each is within 3 units in the last place of the exact value over the range its docstring gives;
tests/compiled/test_vector_math.py measures it. NaN gives NaN. Products and sums may be fused.
"""

import numpy as np
from numba import njit

from .elements import float_bits, float_from_bits

# Adding this rounds a float32 of magnitude below 2^22 to an integer, half to even, and leaves
# that integer in the low bits.
_ROUNDER = np.float32(1.5 * 2**23)
_ROUNDER_BITS = np.int32(0x4B400000)
_LOG2_E = np.float32(1.44269504)
# ln 2 in two parts: the first has few enough bits that its products with exponents are exact.
_LN2_HIGH = np.float32(0.693145751953125)
_LN2_LOW = np.float32(1.42860682030941723212e-6)
# (e^r - 1 - r) / r^2 on |r| <= ln(2) / 2, fitted for the least relative error of e^r (2^-28).
_E0 = np.float32(0.4999999403953552)
_E1 = np.float32(0.1666652113199234)
_E2 = np.float32(0.04166838899254799)
_E3 = np.float32(0.00836874544620514)
_E4 = np.float32(0.0013814554549753666)
_ZERO = np.float32(0)
_ONE = np.float32(1)
_TWO = np.float32(2)

# (ln(1 + f) - f + f^2 / 2) / f^3 for sqrt(1/2) <= 1 + f <= sqrt(2), for the least relative error of ln.
_L0 = np.float32(0.3333333134651184)
_L1 = np.float32(-0.2500081956386566)
_L2 = np.float32(0.20001226663589478)
_L3 = np.float32(-0.16623356938362122)
_L4 = np.float32(0.14201757311820984)
_L5 = np.float32(-0.13160182535648346)
_L6 = np.float32(0.1276157647371292)
_L7 = np.float32(-0.07634496688842773)
_SQRT_HALF_BITS = np.int32(0x3F3504F3)
_SMALLEST_NORMAL = np.float32(2.0**-126)
_TWO_TO_23 = np.float32(2.0**23)
_HALF = np.float32(0.5)
_INFINITY = np.float32(np.inf)
_NAN = np.float32(np.nan)

_scalar = njit(error_model="numpy", fastmath={"contract"}, inline="never")


@_scalar
def clamp_f32(x, low, high):
    """x within [low, high]; NaN stays NaN."""
    x = low if x < low else x
    return high if x > high else x


@_scalar
def power_of_two_f32(k):
    """2^k for an int32 k in -126 .. 127."""
    return float_from_bits(np.int32(np.int32(k + np.int32(127)) << np.int32(23)))


@_scalar
def _expm1_reduced(r):
    """e^r - 1 for |r| <= ln(2) / 2."""
    p = _E4 * r + _E3
    p = p * r + _E2
    p = p * r + _E1
    p = p * r + _E0
    return p * (r * r) + r


@_scalar
def exp_f32(x):
    """e^x for all x: 0 below -104, infinity above 88.73, subnormal results within one quantum."""
    x = clamp_f32(x, np.float32(-104), np.float32(89))
    shifted = x * _LOG2_E + _ROUNDER
    k = shifted - _ROUNDER
    exponent = np.int32(float_bits(shifted) - _ROUNDER_BITS)
    half = np.int32(exponent >> np.int32(1))
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    e = _expm1_reduced(r) + _ONE
    # Two steps, as 2^exponent alone would leave float32's range for the smallest and largest x.
    return e * power_of_two_f32(half) * power_of_two_f32(np.int32(exponent - half))


@_scalar
def expm1_f32(x):
    """e^x - 1 for x <= 0."""
    clamped = clamp_f32(x, np.float32(-30), _ZERO)
    shifted = clamped * _LOG2_E + _ROUNDER
    k = shifted - _ROUNDER
    r = (clamped - k * _LN2_HIGH) - k * _LN2_LOW
    scale = power_of_two_f32(np.int32(float_bits(shifted) - _ROUNDER_BITS))
    return _expm1_reduced(r) * scale + (scale - _ONE)


@_scalar
def logistic_f32(x):
    """1 / (1 + e^-x) for all x; 0 below -88.7."""
    return _ONE / (_ONE + exp_f32(-x))


@_scalar
def tanh_f32(x):
    """tanh(x) for all x."""
    negative = float_from_bits(np.int32(float_bits(x) | np.int32(-0x80000000)))
    t = expm1_f32(_TWO * negative)
    magnitude = -t / (t + _TWO)
    return magnitude if x > _ZERO else -magnitude


@_scalar
def log_f32(x):
    """ln(x) for all x: -infinity at 0, NaN below it."""
    subnormal = x < _SMALLEST_NORMAL
    scaled = x * _TWO_TO_23 if subnormal else x
    bits = float_bits(scaled)
    exponent = np.int32(np.int32(bits - _SQRT_HALF_BITS) >> np.int32(23))
    f = float_from_bits(np.int32(bits - np.int32(exponent << np.int32(23)))) - _ONE
    k = np.float32(exponent) - (np.float32(23) if subnormal else _ZERO)
    p = _L7 * f + _L6
    p = p * f + _L5
    p = p * f + _L4
    p = p * f + _L3
    p = p * f + _L2
    p = p * f + _L1
    p = p * f + _L0
    square = f * f
    result = (k * _LN2_LOW + (p * (square * f) - _HALF * square)) + f + k * _LN2_HIGH
    result = result if x < _INFINITY else x
    result = result if x > _ZERO else -_INFINITY
    return result if x >= _ZERO else _NAN
