"""Functions of the C library for float32, with the same results wherever code of a target runs.

C libraries differ in their last bits, and one of them from processor to processor. These take the steps of
glibc 2.36, of whose results LiteRT's outputs on x86-64 are made: sums and products of float64, fused where
the target has FMA, and for ATAN2 of float32, where nothing is fused. They are within one unit in the last
place of the exact value, ATAN2 within 1.3, and remainders are exact. What is not a number, infinite or a zero
comes out as C99 (annex F) has it. tests/compiled/test_scalar_math.py measures it.

Source: glibc 2.36, sysdeps/ieee754/flt-32, of which s_sinf.c, e_logf.c, e_expf.c and e_powf.c are Arm's
optimized routines, and e_atan2f.c and s_atanf.c Sun's fdlibm.
"""

import math

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from .elements import double_bits, double_from_bits, float_bits, float_from_bits
from .target import target

_scalar = njit(error_model="numpy", inline="never")

_INFINITY, _NAN, _ZERO, _ONE = np.float32(np.inf), np.float32(np.nan), np.float32(0), np.float32(1)
_SIGN = np.int32(-0x80000000)
# Adding this to a float64 below 2^51 rounds it to an integer, which its low bits then hold.
_ROUNDER = 1.5 * 2.0**52
_MANTISSA_BITS = np.int64(52)
_ONE_BITS = np.int64(0x3FF0000000000000)

# sin(r) = r + r^3 * s1 + r^5 * s2 + r^7 * s3, cos(r) = c0 + r^2 * c1 + ... + r^8 * c4 for |r| <= pi / 4.
SINE = tuple(
    float.fromhex(c) for c in ("-0x1.555545995a603p-3", "0x1.1107605230bc4p-7", "-0x1.994eb3774cf24p-13")
)
COSINE = tuple(
    float.fromhex(c)
    for c in (
        *("0x1p0", "-0x1.ffffffd0c621cp-2", "0x1.55553e1068f19p-5"),
        *("-0x1.6c087e89a359dp-10", "0x1.99343027bf8c3p-16"),
    )
)
_QUARTER_TURN = math.pi / 2

# About 1 / c for the middle c of each sixteenth of mantissas from 0x1.66p-1 on.
_INVERSES = tuple(
    float.fromhex(c)
    for c in (
        *("0x1.661ec79f8f3bep+0", "0x1.571ed4aaf883dp+0", "0x1.49539f0f010b0p+0", "0x1.3c995b0b80385p+0"),
        *("0x1.30d190c8864a5p+0", "0x1.25e227b0b8ea0p+0", "0x1.1bb4a4a1a343fp+0", "0x1.12358f08ae5bap+0"),
        *("0x1.0953f419900a7p+0", "0x1.0p+0", "0x1.e608cfd9a47acp-1", "0x1.ca4b31f026aa0p-1"),
        *("0x1.b2036576afce6p-1", "0x1.9c2d163a1aa2dp-1", "0x1.886e6037841edp-1", "0x1.767dcf5534862p-1"),
    )
)
_LOGARITHMS = tuple(-math.log(c) + 0.0 for c in _INVERSES)
_LOGARITHMS_2 = tuple(-math.log2(c) + 0.0 for c in _INVERSES)
_FIRST_MANTISSA = np.int64(0x3F330000)
# (ln(1 + r) - r) / r^2, and log2(1 + r) / r, the highest power first.
_LOG = tuple(
    float.fromhex(c) for c in ("-0x1.00ea348b88334p-2", "0x1.5575b0be00b6ap-2", "-0x1.ffffef20a4123p-2")
)
_LOG2 = tuple(
    float.fromhex(c)
    for c in (
        *("0x1.27616c9496e0bp-2", "-0x1.71969a075c67ap-2", "0x1.ec70a6ca7baddp-2"),
        *("-0x1.7154748bef6c8p-1", "0x1.71547652ab82bp0"),
    )
)
# 2^(k / 32), and (2^r - 1) / r.
_PARTS = 32
_POWERS = tuple(2.0 ** (k / _PARTS) for k in range(_PARTS))
_EXP2 = tuple(
    float.fromhex(c) for c in ("0x1.c6af84b912394p-5", "0x1.ebfce50fac4f3p-3", "0x1.62e42ff0c52d6p-1")
)
_EXP2_OF_PARTS = tuple(c / _PARTS**k for c, k in zip(_EXP2, (3, 2, 1), strict=True))

# atan(r) = r - r * (r^2 * a0 + r^4 * a1 + ...), and atan of 1/2, 1, 3/2 and infinity in two parts.
_ATAN = tuple(
    np.float32(c)
    for c in (
        *(3.3333334327e-01, -2.0000000298e-01, 1.4285714924e-01, -1.1111110449e-01, 9.0908870101e-02),
        *(-7.6918758452e-02, 6.6610731184e-02, -5.8335702866e-02, 4.9768779427e-02, -3.6531571299e-02),
        1.6285819933e-02,
    )
)
_ATAN_HIGH = tuple(
    np.float32(c) for c in (4.6364760399e-01, 7.8539812565e-01, 9.8279368877e-01, 1.5707962513e00)
)
_ATAN_LOW = tuple(
    np.float32(c) for c in (5.0121582440e-09, 3.7748947079e-08, 3.4473217170e-08, 7.5497894159e-08)
)
_PI, _PI_LOW, _HALF_PI = np.float32(math.pi), np.float32(-8.7422776573e-08), np.float32(math.pi / 2)
_HALF, _THREE_HALVES, _TWO = np.float32(0.5), np.float32(1.5), np.float32(2)

# A mantissa of 24 bits, moved up by so many, is an int64.
_MOVE = 38


@intrinsic
def _fused(typing_context, a, b, c):
    """a * b + c of float64, rounded once where the target has FMA."""

    def codegen(context, builder, signature, values):
        if target().fma:
            return builder.fma(*values)
        return builder.fadd(builder.fmul(*values[:2]), values[2])

    return types.float64(types.float64, types.float64, types.float64), codegen


@_scalar
def sine_and_cosine_f32(x):
    """sin(x) and cos(x) for |x| < 120."""
    wide = np.float64(x)
    shifted = wide * (1 / _QUARTER_TURN) + _ROUNDER
    quarter = double_bits(shifted)
    r = _fused(shifted - _ROUNDER, -_QUARTER_TURN, wide)
    z = r * r
    cube, fourth = r * z, z * z
    s = _fused(cube * z, _fused(z, SINE[2], SINE[1]), _fused(cube, SINE[0], r))
    c = _fused(fourth, COSINE[2], _fused(z, COSINE[1], COSINE[0]))
    c = _fused(fourth * z, _fused(z, COSINE[4], COSINE[3]), c)
    if quarter & 1:
        s, c = c, -s
    if quarter & 2:
        s, c = -s, -c
    return np.float32(s), np.float32(c)


@_scalar
def _mantissa(x):
    """(k, i, m): x = m * 2^k for x > 0, and in which sixteenth m lies."""
    k = np.int64(0)
    if x < np.float32(2.0**-126):
        x, k = x * np.float32(2.0**23), np.int64(-23)
    bits = np.int64(float_bits(x))
    above = bits - _FIRST_MANTISSA
    exponent = above >> 23
    m = float_from_bits(np.int32(bits - (exponent << 23)))
    return exponent + k, above >> 19 & 15, np.float64(m)


@_scalar
def log_f32(x):
    """ln(x): -infinity at 0, NaN below it."""
    if not (x > 0 and x < _INFINITY):
        return -_INFINITY if x == 0 else x if x > 0 else _NAN
    if x == 1:
        return _ZERO
    k, i, m = _mantissa(x)
    r = _fused(m, _INVERSES[i], -1.0)
    whole = _fused(np.float64(k), math.log(2), _LOGARITHMS[i])
    z = r * r
    y = _fused(_LOG[0], z, _fused(_LOG[1], r, _LOG[2]))
    return np.float32(_fused(y, z, whole + r))


@_scalar
def _power_of_two(turns, r, polynomial):
    """2^(n / 32 + r) in float64: turns has n in its low bits, and polynomial is of r."""
    bits = double_bits(turns)
    exponent = bits >> 5
    scale = double_from_bits(double_bits(_POWERS[bits & 31]) + (exponent << _MANTISSA_BITS))
    y = _fused(polynomial[2], r, 1.0)
    return _fused(_fused(polynomial[0], r, polynomial[1]), r * r, y) * scale


@_scalar
def exp_f32(x):
    """e^x."""
    if x != x:
        return x
    turns = min(max(np.float64(x), -110.0), 100.0) * (_PARTS / math.log(2))
    shifted = turns + _ROUNDER
    return np.float32(_power_of_two(shifted, turns - (shifted - _ROUNDER), _EXP2_OF_PARTS))


@_scalar
def _is_odd(y):
    """Whether a number is an odd integer."""
    return abs(y) < 2.0**24 and np.float32(np.int64(y)) == y and np.int64(y) & 1 == 1


@_scalar
def _is_whole(y):
    return abs(y) >= 2.0**23 or np.float32(np.int64(y)) == y


@_scalar
def _power_of_size(size, y):
    """size^y for size >= 0 and y other than 0; each may be infinite."""
    if size == 0 or size == _INFINITY or abs(y) == _INFINITY:
        if size == 1:
            return _ONE
        return _INFINITY if (size > 1) == (y > 0) else _ZERO
    k, i, m = _mantissa(size)
    r = _fused(m, _INVERSES[i], -1.0)
    z = r * r
    q = _fused(_LOG2[4], r, _LOGARITHMS_2[i] + np.float64(k))
    q = _fused(_fused(_LOG2[2], r, _LOG2[3]), z, q)
    logarithm = _fused(_fused(_LOG2[0], r, _LOG2[1]), z * z, q)
    turns = min(max(np.float64(y) * logarithm, -200.0), 200.0)
    # A float64 this large has room for 32nds.
    shifted = turns + _ROUNDER / _PARTS
    return np.float32(_power_of_two(shifted, turns - (shifted - _ROUNDER / _PARTS), _EXP2))


@_scalar
def pow_f32(x, y):
    """x^y."""
    if y == 0 or x == 1:
        return _ONE
    if x != x or y != y:
        return _NAN
    if float_bits(x) >= 0:
        return _power_of_size(x, y)
    if x > -_INFINITY and x != 0 and not _is_whole(y):
        return _NAN
    size = _power_of_size(-x, y)
    return -size if _is_odd(y) else size


@_scalar
def _arc_tangent(x):
    """atan(x) for x >= 0."""
    place = -1
    if x >= np.float32(2.4375):
        x, place = -_ONE / x, 3
    elif x >= np.float32(1.1875):
        x, place = (x - _THREE_HALVES) / (_ONE + _THREE_HALVES * x), 2
    elif x >= np.float32(0.6875):
        x, place = (x - _ONE) / (x + _ONE), 1
    elif x >= np.float32(0.4375):
        x, place = (_TWO * x - _ONE) / (_TWO + x), 0
    z = x * x
    w = z * z
    even, odd = _ATAN[10], _ATAN[9]
    for k in (8, 6, 4, 2, 0):
        even = _ATAN[k] + w * even
    for k in (7, 5, 3, 1):
        odd = _ATAN[k] + w * odd
    less = x * (z * even + w * odd)
    if place < 0:
        return x - less
    return _ATAN_HIGH[place] - ((less - _ATAN_LOW[place]) - x)


@_scalar
def _angle(height, width, is_left):
    """The angle, from 0 to pi, of a point above the axis: not both infinite, not on the axis."""
    if width == 0:
        return _HALF_PI
    apart = (np.int64(float_bits(height)) - np.int64(float_bits(width))) >> 23
    if apart > 60:
        z = _HALF_PI + _HALF * _PI_LOW
    elif is_left and apart < -60:
        z = _ZERO
    else:
        z = _arc_tangent(height / width)
    return _PI - (z - _PI_LOW) if is_left else z


@_scalar
def atan2_f32(y, x):
    """The angle of (x, y), from -pi to pi."""
    if x != x or y != y:
        return _NAN
    height, width, is_left = abs(y), abs(x), float_bits(x) < 0
    if height == 0:
        size = _PI if is_left else _ZERO
    elif height == _INFINITY and width == _INFINITY:
        size = np.float32(3 * math.pi / 4) if is_left else np.float32(math.pi / 4)
    else:
        size = _angle(height, width, is_left)
    return float_from_bits(np.int32(float_bits(size) | (float_bits(y) & _SIGN)))


@_scalar
def _parts(x):
    """(m, e) with |x| = m * 2^e, for a finite float32."""
    bits = np.int64(float_bits(x)) & 0x7FFFFFFF
    exponent, mantissa = bits >> 23, bits & 0x7FFFFF
    if exponent == 0:
        return mantissa, np.int64(-149)
    return mantissa | 0x800000, exponent - 150


@_scalar
def fmod_f32(x, y):
    """What is left of x after whole multiples of y, with x's sign; exact."""
    if x != x or y != y or abs(x) == _INFINITY or y == 0:
        return _NAN
    if abs(x) < abs(y) or x == 0:
        return x
    left, from_ = _parts(x)
    divisor, to = _parts(y)
    while from_ > to:
        moved = min(from_ - to, _MOVE)
        left = (left << moved) % divisor
        from_ -= moved
    left %= divisor
    size = np.float32(np.float64(left) * double_from_bits(np.int64((to << _MANTISSA_BITS) + _ONE_BITS)))
    return -size if float_bits(x) < 0 else size
