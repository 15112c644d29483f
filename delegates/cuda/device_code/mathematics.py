"""Functions of float32 whose error stays near one unit of the last place, from plain operations."""

import triton
import triton.language as tl


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
def sine(x, quarters):
    """sin(x + quarters * pi / 2); precise up to about 10**9, reduced in float64."""
    wide = x.to(tl.float64)
    count = tl.floor(wide * 0.6366197723675814 + 0.5)
    r = (wide - count * 1.5707963267948966).to(tl.float32)
    bounded = tl.where(tl.abs(count) < 1073741824.0, count, 0.0)
    quadrant = (bounded.to(tl.int32) + quarters) & 3
    z = r * r
    odd = r + r * z * (-1.0 / 6 + z * (1.0 / 120 + z * (-1.0 / 5040 + z * (1.0 / 362880))))
    even = 1.0 + z * (-0.5 + z * (1.0 / 24 + z * (-1.0 / 720 + z * (1.0 / 40320 + z * (-1.0 / 3628800)))))
    y = tl.where((quadrant & 1) == 1, even, odd)
    y = tl.where((quadrant & 2) == 2, -y, y)
    return tl.where(tl.abs(x) < float("inf"), y, float("nan"))


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
