"""Floored division of integers, and kernels that look at their second operand first."""

import numpy as np
from numba import njit

from .broadcast import broadcast_kernel


@njit(error_model="numpy")
def _nothing(block):
    return 0


@njit(error_model="numpy")
def not_zero(x):
    return x != 0


def checked(read, write, combine, allowed, status):
    """A broadcast kernel that first looks at every element of its second operand."""
    compute = njit(error_model="numpy")(broadcast_kernel(read, write, _nothing, combine))

    def kernel(block, chunk, chunks):
        count = 1
        for d in range(len(block.shape)):
            if block.b_strides[d] != 0:
                count *= block.shape[d]
        for i in range(count):
            if not allowed(read(block.b, i)):
                return status
        return compute(block, chunk, chunks)

    return kernel


@njit(error_model="numpy")
def divided(x, y):
    """Quotient and remainder cut towards zero: of int32 exact in float64, which has vector code."""
    quotient = np.int64(np.float64(x) / np.float64(y))
    return quotient, np.int64(x) - quotient * y


def floored(width):
    """FLOOR_DIV and FLOOR_MOD of a NumPy integer type of 32 bits at most; what overflows wraps."""

    @njit(error_model="numpy")
    def floor_div(x, y, p):
        quotient, remainder = divided(x, y)
        return width(quotient - (1 if remainder != 0 and (remainder < 0) != (y < 0) else 0))

    @njit(error_model="numpy")
    def floor_mod(x, y, p):
        remainder = divided(x, y)[1]
        return width(remainder + (np.int64(y) if remainder != 0 and (remainder < 0) != (y < 0) else 0))

    return (("floor_div", floor_div), ("floor_mod", floor_mod))
