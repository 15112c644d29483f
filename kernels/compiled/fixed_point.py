"""Fixed point as gemmlowp computes it, exact to the last bit.

In 32 bits, whose raw values are held as int64, and in 16, held in int32: there a number with m integer bits
is its raw value divided by 2**(15 - m). Source: gemmlowp fixedpoint/fixedpoint.h.
"""

import numpy as np
from numba import njit

_INT32_MAX = np.int64((1 << 31) - 1)
_48_OVER_17 = np.int64(1515870810)  # with 2 integer bits
_MINUS_32_OVER_17 = np.int64(-1010580540)
_ONE = np.int64(1 << 29)


@njit(error_model="numpy")
def high_multiply(x, y):
    """x * y / 2**31, ties upwards."""
    return (np.int64(x) * np.int64(y) + (1 << 30)) >> 31


@njit(error_model="numpy")
def saturate(x):
    return min(max(x, -_INT32_MAX - 1), _INT32_MAX)


@njit(error_model="numpy")
def divide_by_power(x, exponent):
    mask = (np.int64(1) << exponent) - 1
    return (x >> exponent) + (1 if (x & mask) > (mask >> 1) + (1 if x < 0 else 0) else 0)


@njit(error_model="numpy")
def reciprocal_of_one_plus(a):
    """1 / (1 + a) for 0 <= a < 1; both raw fixed-point values with no integer bits.

    Three steps of Newton's division. Source: gemmlowp fixedpoint/fixedpoint.h.
    """
    half = (a + _INT32_MAX + 1) // 2
    x = _48_OVER_17 + high_multiply(half, _MINUS_32_OVER_17)
    for _ in range(3):
        missing = _ONE - high_multiply(half, x)
        x += saturate(high_multiply(x, missing) << 2)
    return saturate(x << 1)


@njit(error_model="numpy")
def leading_zeros(x):
    """Of a number below 2**32 in 32 bits."""
    count = 0
    while count < 32 and x < (np.int64(1) << (31 - count)):
        count += 1
    return count


# Raw values with no integer bits; the factors of a quotient of polynomials around 2**-1/4.
_LOG_OF_TWO = np.int64(1488522236)
_ROOT_OF_HALF = np.int64(1518500250)
_FOURTH_ROOT_OF_HALF = np.int64(1805811301)
_LOG_NUMERATOR = np.int64(117049297)
_LOG_DENOMINATOR = (np.int64(1057819769), np.int64(127690142), np.int64(638450708))


@njit(error_model="numpy")
def log_of(x, integer_bits):
    """Natural logarithm of x >= 1, a raw value with integer_bits (at most 21); the result has five.

    x is first split into a power of two, in steps of a half, and a number near 2**-1/4.
    Source: LiteRT tflite/kernels/internal/common.h, log_x_for_x_greater_than_or_equal_to_1_impl.
    """
    x = np.int64(x)
    quarter = np.int64(1 << 23)  # with the six integer bits that powers and sums have
    zeros = leading_zeros(x)
    whole = saturate(2 * high_multiply(x << (zeros - 1), _ROOT_OF_HALF))
    whole_power = (np.int64(integer_bits - zeros) << 25) + quarter
    half_zeros = leading_zeros(high_multiply(x, _ROOT_OF_HALF)) - 1
    half = saturate(x << half_zeros)
    half_power = (np.int64(integer_bits - half_zeros) << 25) - quarter
    near, power = min(whole, half), max(whole_power, half_power)
    middle = (near + _FOURTH_ROOT_OF_HALF + 1) // 2
    apart = 2 * (near - _FOURTH_ROOT_OF_HALF)
    square = high_multiply(apart, apart)
    numerator = high_multiply(apart, near) + high_multiply(high_multiply(apart, square), _LOG_NUMERATOR)
    constant, of_square, of_apart = _LOG_DENOMINATOR
    rest = high_multiply(middle, constant + apart + high_multiply(of_square, square))
    share = reciprocal_of_one_plus(rest + high_multiply(of_apart, apart))
    total = high_multiply(power, _LOG_OF_TWO) + high_multiply(divide_by_power(numerator, 6), share)
    return saturate(2 * total)


@njit(error_model="numpy")
def inverse_square_root(value):
    """(multiplier, shift) of 1 / sqrt(value), shift to the left.

    Source: LiteRT tflite/kernels/internal/common.h, GetInvSqrtQuantizedMultiplierExp.
    """
    value = np.int64(value)
    if value <= 1:
        return np.int32(2147483647), np.int32(0)
    shift = 11
    while value >= 1 << 29:
        value //= 4
        shift += 1
    while value < 1 << 27:
        value *= 4
        shift -= 1
    number = value >> 1
    half = (number + 1) >> 1
    x = np.int64(1 << 28)
    for _ in range(5):
        cube = high_multiply(high_multiply(x, x), x)
        cube = saturate(cube << 6)
        x = high_multiply(x, np.int64(402653184)) - high_multiply(half, cube)
        x = saturate(x << 3)
    x = high_multiply(x, np.int64(1518500250))
    if shift < 0:
        x <<= -shift
        shift = 0
    return np.int32(x), np.int32(-shift)


# --- 16 bits: what the logistic and tanh of 8x8 -> 16 bit kernels need
_ONE_I16 = 32767  # the largest number with no integer bits stands for 1
_TWO_BITS_ONE = 1 << 13
_EIGHTH = 4096
# Raw values with no integer bits.
_EXP_OF_MINUS_EIGHTH = 28918
_THIRD = 10923
_EXP_OF_MINUS_POWERS = (25520, 19875, 12055, 4435, 600, 11, 0)  # of 2**-2, 2**-1 ... 2**4
# Raw values with two integer bits: the first guess of the division by Newton's method.
_48_OVER_17_I16 = 23130
_MINUS_32_OVER_17_I16 = -15420


@njit(error_model="numpy")
def clamp_i16(value):
    return np.int32(min(max(np.int32(value), np.int32(-32768)), np.int32(32767)))


@njit(error_model="numpy")
def rounded_product(a, b):
    """a * b / 2**15, ties upwards."""
    return np.int32(np.int32(np.int32(np.int32(a) * np.int32(b)) + np.int32(16384)) >> 15)


@njit(error_model="numpy")
def rounding_shift(x, bits):
    """x / 2**bits for bits >= 1, ties away from zero."""
    half = np.int32(np.int32(1) << np.int32(bits - 1))
    return np.int32(np.int32(x + half - (np.int32(1) if x < 0 else np.int32(0))) >> np.int32(bits))


@njit(error_model="numpy")
def saturating_shift(x, bits):
    """x * 2**bits within int16."""
    return np.int32(min(max(np.int32(x) << np.int32(bits), np.int32(-32768)), np.int32(32767)))


@njit(error_model="numpy")
def exp_of_quarter(a):
    """exp(a) for a in [-1/4, 0), no integer bits: four terms of the series around -1/8."""
    x = np.int32(a + _EIGHTH)
    x2 = rounded_product(x, x)
    x3 = rounded_product(x2, x)
    x4 = rounded_product(x2, x2)
    series = rounded_product(rounding_shift(x4, 2) + x3, _THIRD) + x2
    grown = rounded_product(_EXP_OF_MINUS_EIGHTH, x + rounding_shift(series, 1))
    return np.int32(min(max(_EXP_OF_MINUS_EIGHTH + grown, -32768), 32767))


@njit(error_model="numpy")
def exp_of_negative(a, integer_bits):
    """exp(a) for a <= 0 with integer_bits (at most 7); the result has no integer bits."""
    fraction_bits = 15 - integer_bits
    quarter = np.int32(np.int32(1) << np.int32(fraction_bits - 2))
    rest = np.int32(np.int32(a & np.int32(quarter - 1)) - quarter)
    result = exp_of_quarter(saturating_shift(rest, integer_bits))
    whole = np.int32(rest - a)
    for k in range(7):
        if integer_bits > k - 2 and (whole >> np.int32(fraction_bits + k - 2)) & 1:
            result = rounded_product(result, _EXP_OF_MINUS_POWERS[k])
    if integer_bits > 5 and a < -(1 << (20 - integer_bits)):
        result = np.int32(0)
    return np.int32(_ONE_I16) if a == 0 else result


@njit(error_model="numpy")
def reciprocal_of_half_sum(a):
    """2 / (1 + a) for a in (0, 1) with no integer bits; the result has two integer bits."""
    half = np.int32(np.int32(a + _ONE_I16 + 1) >> 1)
    x = np.int32(_48_OVER_17_I16 + rounded_product(half, _MINUS_32_OVER_17_I16))
    for _ in range(3):
        rest = np.int32(_TWO_BITS_ONE - rounded_product(half, x))
        x = np.int32(x + saturating_shift(rounded_product(x, rest), 2))
    return x


@njit(error_model="numpy")
def logistic_i16(a):
    """1 / (1 + exp(-a)) of a raw value with three integer bits; the result has none."""
    a = np.int32(a)
    # The most negative number has no opposite in 16 bits and stays as it is.
    negative = a if a < 0 else np.int32(-a)
    positive = saturating_shift(reciprocal_of_half_sum(exp_of_negative(negative, 3)), 1)
    if a == 0:
        return np.int32(16384)
    return positive if a > 0 else np.int32(_ONE_I16 - positive)


@njit(error_model="numpy")
def tanh_i16(a, integer_bits):
    """tanh of a raw value with integer_bits (at most 6); the result has no integer bits."""
    a = np.int32(a)
    negative = a if a < 0 else np.int32(-a)
    quotient = reciprocal_of_half_sum(exp_of_negative(negative, integer_bits + 1))
    size = saturating_shift(np.int32(quotient - _TWO_BITS_ONE), 2)
    if a == 0:
        return np.int32(0)
    return np.int32(-size) if a < 0 else size
