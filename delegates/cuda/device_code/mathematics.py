"""Functions of float32 whose error stays near one unit of the last place, from plain operations."""

import triton
import triton.language as tl

from .requantize import clamp


@triton.jit
def exponential(x):
    """e**x; results below 2**-126 are 0."""
    bounded = tl.where(x < -150.0, -150.0, x)
    bounded = tl.where(bounded > 150.0, 150.0, bounded)
    n = tl.floor(bounded * 1.4426950408889634 + 0.5)
    rest = (bounded - n * 0.693145751953125) - n * 1.42860682030941723e-06
    # Two factors, as 2**n alone may be too large.
    return tl.exp2(rest * 1.4426950408889634 + 1.0) * tl.exp2(n - 1.0)


@triton.jit
def exponential_less_one(x):
    """e**x - 1."""
    p = 1.0 / 40320.0 + x * (1.0 / 362880.0)
    p = 1.0 / 5040.0 + x * p
    p = 1.0 / 720.0 + x * p
    p = 1.0 / 120.0 + x * p
    p = 1.0 / 24.0 + x * p
    p = 1.0 / 6.0 + x * p
    p = 0.5 + x * p
    near = x + x * x * p
    return tl.where(tl.abs(x) < 0.5, near, exponential(x) - 1.0)


@triton.jit
def sigmoid(x):
    return 1.0 / (1.0 + exponential(-x))


@triton.jit
def hyperbolic_tangent(x):
    e = exponential_less_one(-2.0 * tl.abs(x))
    magnitude = -e / (2.0 + e)
    return tl.where(x < 0, -magnitude, magnitude)


@triton.jit
def logarithm(x):
    """The natural logarithm: of a number in [sqrt(1/2), sqrt(2)) by a series, plus its exponent's."""
    is_small = x < 1.17549435e-38
    scaled = tl.where(is_small, x * 8388608.0, x)
    bits = scaled.to(tl.int32, bitcast=True)
    exponent = ((bits - 0x3F3504F3) >> 23).to(tl.int32)
    mantissa = (bits - (exponent << 23)).to(tl.float32, bitcast=True)
    n = exponent.to(tl.float32) - tl.where(is_small, 23.0, 0.0)
    f = mantissa - 1.0
    s = f / (2.0 + f)
    z = s * s
    series = z * (2.0 / 3.0 + z * (2.0 / 5.0 + z * (2.0 / 7.0 + z * (2.0 / 9.0 + z * (2.0 / 11.0)))))
    y = n * 0.693145751953125 + (2.0 * s + (s * series + n * 1.42860682030941723e-06))
    y = tl.where(x == float("inf"), x, y)
    y = tl.where(x == 0, float("-inf"), y)
    return tl.where(x >= 0, y, float("nan"))


@triton.jit
def two_over_pi(word):
    """32 bits of 2 / pi, as int64: those from bit 32 * word behind the point on."""
    bits = tl.where(word == 0, 0xA2F9836E, 0x4E441529)
    bits = tl.where(word == 2, 0xFC2757D1, bits)
    bits = tl.where(word == 3, 0xF534DDC0, bits)
    bits = tl.where(word == 4, 0xDB629599, bits)
    bits = tl.where(word == 5, 0x3C439041, bits)
    return tl.where(word == 6, 0xFE5163AB, bits).to(tl.int64)


@triton.jit
def quarters_of_large(x):
    """x * 2 / pi of x from 2**28 on: the nearest whole number modulo 4 as int32, and the rest as float64.

    x is an integer of 24 bits times 2**e. Bits of 2 / pi that make multiples of 4 of it are skipped, and
    of the product with the next 96 bits the topmost 64 are kept, two of them before the point.
    """
    bits = x.to(tl.int32, bitcast=True)
    integer = ((bits & 0x7FFFFF) | 0x800000).to(tl.int64)
    skipped = (bits >> 23) - 152
    skipped = tl.where((skipped < 0) | (skipped > 102), 0, skipped)
    word, shift = skipped >> 5, (skipped & 31).to(tl.int64)
    a, b, c, d = two_over_pi(word), two_over_pi(word + 1), two_over_pi(word + 2), two_over_pi(word + 3)
    low = integer * (((c << shift) | (d >> (32 - shift))) & 0xFFFFFFFF)
    middle = integer * (((b << shift) | (c >> (32 - shift))) & 0xFFFFFFFF) + (low >> 32)
    high = integer * (((a << shift) | (b >> (32 - shift))) & 0xFFFFFFFF) + (middle >> 32)
    product = (high << 32) | (middle & 0xFFFFFFFF)
    whole = (product + (1 << 61)) >> 62
    rest = product - (whole << 62)
    return whole.to(tl.int32), rest.to(tl.float64) * 2.168404344971009e-19  # 2**-62


@triton.jit
def sine(x, quarters):
    """sin(x + quarters * pi / 2), of every float32."""
    magnitude = tl.abs(x)
    wide = magnitude.to(tl.float64)
    is_large = magnitude >= 268435456.0
    # Products of a whole number under 2**28 with the first 25 bits of pi / 2 are exact.
    count = tl.where(is_large, 0.0, tl.floor(wide * 0.6366197723675814 + 0.5))
    rest = (wide - count * 1.5707963109016418) - count * 1.5893254773528196e-08
    large_count, large_rest = quarters_of_large(magnitude)
    r = tl.where(is_large, large_rest * 1.5707963267948966, rest).to(tl.float32)
    whole = tl.where(is_large, large_count, count.to(tl.int32))
    r = tl.where(x < 0, -r, tl.where(x > 0, r, x))
    quadrant = (tl.where(x < 0, -whole, whole) + quarters) & 3
    z = r * r
    odd = r + r * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880))))
    even = 1.0 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800)))))
    odd = tl.where(r == 0, r, odd)  # a zero keeps its sign
    y = tl.where((quadrant & 1) == 1, even, odd)
    y = tl.where((quadrant & 2) == 2, -y, y)
    return tl.where(magnitude < float("inf"), y, float("nan"))


@triton.jit
def rounded_to_even(x):
    """The nearest whole number, ties to even."""
    magnitude = tl.abs(x)
    whole = (magnitude + 8388608.0) - 8388608.0
    whole = tl.where(magnitude < 8388608.0, whole, magnitude)
    return tl.where(x < 0, -whole, tl.where(x > 0, whole, x))


@triton.jit
def exact_product(x, y):
    """x * y rounded to float32, also where a sum follows: a GPU would make one operation of both."""
    return (x.to(tl.float64) * y).to(tl.float32)


@triton.jit
def _binary_logarithm(x):
    """Of positive finite float64, to about 38 bits: a series in (m - 1) / (m + 1), plus the exponent."""
    bits = x.to(tl.int64, bitcast=True)
    exponent = (bits - 0x3FE6A09E667F3BCD) >> 52
    m = (bits - (exponent << 52)).to(tl.float64, bitcast=True)
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    series = 1.0 / 9 + z * (1.0 / 11 + z * (1.0 / 13))
    series = 1.0 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * series)))
    return exponent.to(tl.float64) + s * series * 2.8853900817779268


@triton.jit
def _power_of_two(turns):
    """2**turns of float64 in [-192, 192], to about 31 bits."""
    whole = tl.floor(turns + 0.5)
    r = (turns - whole) * 0.6931471805599453
    p = 1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880))
    p = 1.0 + r * (
        1.0 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 + r * p)))))
    )
    return p * ((whole.to(tl.int64) + 1023) << 52).to(tl.float64, bitcast=True)


@triton.jit
def power(x, y):
    """x**y, by logarithms in float64; zeros, infinities and NaNs as in C's pow."""
    size = tl.abs(x)
    ordinary = (size > 0) & (size < float("inf"))
    log = _binary_logarithm(tl.where(ordinary, size, 1.0).to(tl.float64))
    log = tl.where(size == 0, float("-inf"), tl.where(size == float("inf"), float("inf"), log))
    turns = clamp(y.to(tl.float64) * log, -192.0, 192.0)
    magnitude = _power_of_two(tl.where(turns == turns, turns, 0.0)).to(tl.float32)
    magnitude = tl.where((y == 0) | (size == 1), 1.0, magnitude)
    half = y * 0.5
    is_whole = tl.floor(y) == y
    is_odd = is_whole & (tl.floor(half) != half)
    negative = x.to(tl.int32, bitcast=True) < 0
    result = tl.where(negative & is_odd, -magnitude, magnitude)
    result = tl.where((x < 0) & ordinary & (is_whole == 0), float("nan"), result)
    unknown = ((x != x) & (y != 0)) | ((y != y) & (x != 1))
    return tl.where(unknown, float("nan"), result)


@triton.jit
def power_of_integers(x, y):
    """x**y of int32, y not negative; what does not fit becomes the least int32."""
    # Beyond 63 only the parity counts: of what is not 0 or 1 in size, none fits.
    exponent = tl.where(y > 63, 62 + (y & 1), y)
    base = x.to(tl.float64)
    result = base * 0.0 + 1.0
    for bit in tl.static_range(6):
        result = tl.where(((exponent >> bit) & 1) == 1, result * base, result)
        base = base * base
    fits = (result > -2147483649.0) & (result < 2147483648.0)
    return tl.where(fits, tl.where(fits, result, 0.0).to(tl.int32), -2147483648)
