"""LOGISTIC and TANH in 16-bit fixed point, on arrays: for tables made in prepare.

A value of raw integer r with i integer bits stands for r / 2**(15 - i).
Source: gemmlowp fixedpoint/fixedpoint.h; LiteRT
tflite/kernels/internal/optimized/optimized_ops.h, Logistic and Tanh of int16.
"""

from __future__ import annotations

import numpy as np

from .lookup import round_half_away_shift

_MAX = (1 << 15) - 1

# e**(-2**k) with no integer bits, for k = -2 .. 4.
_EXP_OF_POWERS = (25520, 19875, 12055, 4435, 600, 11, 0)
_EXP_OF_MINUS_EIGHTH = 28918
_THIRD = 10923


def _multiply(x: np.ndarray, y: np.ndarray | int) -> np.ndarray:
    """x * y / 2**15, rounded half upwards."""
    return (x * y + (1 << 14)) >> 15


def _saturate(x: np.ndarray) -> np.ndarray:
    return np.clip(x, -_MAX - 1, _MAX)


def _exp_near_zero(a: np.ndarray) -> np.ndarray:
    """e**a for -1/4 <= a < 0, with no integer bits."""
    x = a + (1 << 12)
    x2 = _multiply(x, x)
    x3 = _multiply(x2, x)
    x4_over_4 = round_half_away_shift(_multiply(x2, x2), 2)
    rest = round_half_away_shift(_multiply(x4_over_4 + x3, _THIRD) + x2, 1)
    return _saturate(_EXP_OF_MINUS_EIGHTH + _multiply(x + rest, _EXP_OF_MINUS_EIGHTH))


def _exp_of_negative(a: np.ndarray, integer_bits: int) -> np.ndarray:
    """e**a for a <= 0 with that many integer bits; the result has none."""
    quarter = 1 << (13 - integer_bits)
    low = (a & (quarter - 1)) - quarter
    result = _exp_near_zero(low << integer_bits)
    remainder = low - a
    for k, factor in enumerate(_EXP_OF_POWERS[: integer_bits + 2]):
        result = np.where(remainder & (quarter << k), _multiply(result, factor), result)
    return np.where(a == 0, _MAX, result)


def _two_over_one_plus(a: np.ndarray) -> np.ndarray:
    """2 / (1 + a) for 0 <= a < 1, with 2 integer bits: three steps of Newton's division."""
    half = (a + _MAX + 1) >> 1
    x = 23130 + _multiply(half, -15420)  # 48/17 and -32/17
    for _ in range(3):
        x = x + _saturate(_multiply(x, (1 << 13) - _multiply(half, x)) << 2)
    return x


def logistic(x: np.ndarray) -> np.ndarray:
    """Of values (int64) with 3 integer bits; the result has none."""
    of_magnitude = _saturate(_two_over_one_plus(_exp_of_negative(-np.abs(x), 3)) << 1)
    result = np.where(x > 0, of_magnitude, _MAX - of_magnitude)
    return np.where(x == 0, 1 << 14, result)


def tanh(x: np.ndarray) -> np.ndarray:
    """Of values (int64) with 3 integer bits, of which those outside saturate; the result has none."""
    twice = -np.abs(_saturate(x))  # read with one integer bit more
    of_magnitude = _saturate((_two_over_one_plus(_exp_of_negative(twice, 4)) - (1 << 13)) << 2)
    return np.sign(x) * of_magnitude
