"""Fixed point in 32 bits, as gemmlowp computes it: raw values are held as int64.

Source: gemmlowp fixedpoint/fixedpoint.h.
"""

import numpy as np
from numba import njit

_INT32_MAX = np.int64((1 << 31) - 1)
_48_OVER_17 = np.int64(1515870810)  # with 2 integer bits
_MINUS_32_OVER_17 = np.int64(-1010580540)
_ONE = np.int64(1 << 29)


@njit(error_model="numpy")
def high_multiply(x, y):
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
