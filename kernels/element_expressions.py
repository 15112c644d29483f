"""Plain expressions of scalars: what functions of single elements compute, where it takes several lines."""

from __future__ import annotations

from typing import Any

import numpy as np

ZERO, ONE = np.float32(0), np.float32(1)
# Quotients of smaller integers are further from the next integer than float64 rounds.
_EXACT = 1 << 50


def division_i32(x: Any, y: Any) -> Any:
    """The quotient cut towards zero: exact in float64, which has vector code.

    For a zero divisor any value serves, as the kernel then fails.
    """
    divisor = np.float64(1) if y == 0 else np.float64(y)
    return np.int64(np.float64(x) / divisor)


def division_i64(x: Any, y: Any) -> Any:
    """The quotient cut towards zero; for a zero divisor any value, as the kernel then fails."""
    if y == 0:
        return np.int64(0)
    if y == -1:  # the one quotient that overflows wraps around
        return np.int64(-x)
    quotient = x // y
    return np.int64(quotient + 1 if quotient < 0 and quotient * y != x else quotient)


def power_i32(x: Any, y: Any) -> Any:
    """The power, for y >= 0; what does not fit becomes the least one.

    By squaring in float64, which is exact as far as int32 goes.
    """
    power, square, left = np.float64(1), np.float64(x), np.int64(y)
    while left > 0:
        if left & 1:
            power = power * square
        square = square * square
        left = left >> 1
    return np.int32(power) if -2147483649.0 < power < 2147483648.0 else np.int32(-(2**31))


def product_of_equals(x: Any, y: Any) -> Any:
    """The power by squaring; what does not fit wraps around."""
    result, square, left = np.int64(1), np.int64(x), np.int64(y)
    while left > 0:
        if left & 1:
            result = result * square
        square = square * square
        left = left >> 1
    return result


def floor_div(x: Any, y: Any) -> Any:
    """Of 32 bits at most: float64 has the quotient cut towards zero exactly, and vector code for it."""
    quotient = np.int64(np.float64(x) / np.float64(y))
    remainder = np.int64(x) - quotient * y
    return quotient - (1 if remainder != 0 and (remainder < 0) != (y < 0) else 0)


def floor_mod(x: Any, y: Any) -> Any:
    remainder = np.int64(x) - np.int64(np.float64(x) / np.float64(y)) * y
    return remainder + (np.int64(y) if remainder != 0 and (remainder < 0) != (y < 0) else 0)


def floor_div_i64(x: Any, y: Any) -> Any:
    if (x > -_EXACT) & (x < _EXACT) & (y > -_EXACT) & (y < _EXACT):
        quotient = np.int64(np.float64(x) / np.float64(y))
        remainder = x - quotient * y
        return quotient - (1 if remainder != 0 and (remainder < 0) != (y < 0) else 0)
    return -x if y == -1 else x // y  # the one quotient that overflows wraps around


def floor_mod_i64(x: Any, y: Any) -> Any:
    if (x > -_EXACT) & (x < _EXACT) & (y > -_EXACT) & (y < _EXACT):
        remainder = x - np.int64(np.float64(x) / np.float64(y)) * y
        return remainder + (y if remainder != 0 and (remainder < 0) != (y < 0) else 0)
    return 0 if y == -1 else x % y


def sign_f32(x: Any) -> Any:
    if x > ZERO:
        return ONE
    if x < ZERO:
        return -ONE
    return ZERO if x == ZERO else x


def fake_quant(x: Any, low: Any, high: Any, scale: Any, inverse_scale: Any) -> Any:
    clamped = x if x > low else low
    clamped = high if clamped > high else clamped
    steps = (clamped - low) * inverse_scale
    whole = np.floor(steps)
    rounded = whole + ONE if steps - whole >= np.float32(0.5) else whole
    return rounded * scale + low


def hard_swish(x: Any) -> Any:
    gate = x + np.float32(3)
    gate = ZERO if gate < ZERO else gate
    return x * (np.float32(6) if gate > np.float32(6) else gate) * np.float32(1 / 6)


def prelu(x: Any, slope: Any) -> Any:
    scaled = x * slope
    return x if x >= ZERO else scaled
