"""Powers, floored division and the angle of two operands."""

import math

import numpy as np
from numba import njit

from ..binary_math import BINARY_MATH, DIVISION_BY_ZERO, NEGATIVE_EXPONENT
from .broadcast import broadcast_kernel, row_kernel
from .driver.kernel_source import KernelSources
from .floored import checked, divided, floored, not_zero
from .language.elements import read_f32, read_i32, read_i64, write_f32, write_i32, write_i64
from .power import powers

kernels = KernelSources()

_ZERO = np.float32(0)
_INT32_MIN = -(2**31)
# Quotients of smaller integers are further from the next integer than float64 rounds.
_EXACT = 1 << 50


@njit(error_model="numpy")
def _nothing(block):
    return 0


@njit(error_model="numpy")
def _pow_row(block, a_at, a_step, b_at, b_step, out_at, count):
    powers(block.a + 4 * a_at, a_step, block.b + 4 * b_at, b_step, block.out + 4 * out_at, count)


@njit(error_model="numpy")
def _pow_i32(x, y, p):
    """The power in float64, cut to an int32; what does not fit becomes the least one."""
    power = math.pow(np.float64(x), np.float64(y))
    return np.int32(power) if -2147483649.0 < power < 2147483648.0 else np.int32(_INT32_MIN)


@njit(error_model="numpy")
def _atan2_f32(y, x, p):
    return np.float32(math.atan2(y, x))


@njit(error_model="numpy")
def _floor_div_f32(x, y, p):
    return np.floor(x / y)


@njit(error_model="numpy")
def _floor_mod_f32(x, y, p):
    remainder = np.fmod(x, y)
    return remainder + y if remainder != _ZERO and (y < _ZERO) != (remainder < _ZERO) else remainder


@njit(error_model="numpy")
def _divide_in_float64(x, y):
    """Whether the quotient of two int64, cut to an integer, is exact in float64, which is faster."""
    return -_EXACT < x < _EXACT and -_EXACT < y < _EXACT


@njit(error_model="numpy")
def _floor_div_i64(x, y, p):
    if _divide_in_float64(x, y):
        quotient, remainder = divided(x, y)
        return quotient - (1 if remainder != 0 and (remainder < 0) != (y < 0) else 0)
    return -x if y == -1 else x // y  # the one quotient that overflows wraps around


@njit(error_model="numpy")
def _floor_mod_i64(x, y, p):
    if _divide_in_float64(x, y):
        remainder = divided(x, y)[1]
        return remainder + (y if remainder != 0 and (remainder < 0) != (y < 0) else 0)
    return 0 if y == -1 else x % y


@njit(error_model="numpy")
def _not_negative(x):
    return x >= 0


kernels.add(BINARY_MATH, "pow_f32")(row_kernel(_pow_row))
kernels.add(BINARY_MATH, "pow_i32")(checked(read_i32, write_i32, _pow_i32, _not_negative, NEGATIVE_EXPONENT))
kernels.add(BINARY_MATH, "atan2_f32")(broadcast_kernel(read_f32, write_f32, _nothing, _atan2_f32))
kernels.add(BINARY_MATH, "floor_mod_f32")(broadcast_kernel(read_f32, write_f32, _nothing, _floor_mod_f32))

for _name, _read, _write, _combine in (
    ("floor_div_f32", read_f32, write_f32, _floor_div_f32),
    ("floor_div_i64", read_i64, write_i64, _floor_div_i64),
    ("floor_mod_i64", read_i64, write_i64, _floor_mod_i64),
):
    kernels.add(BINARY_MATH, _name)(checked(_read, _write, _combine, not_zero, DIVISION_BY_ZERO))

for _name, _combine in floored(np.int32):
    kernels.add(BINARY_MATH, f"{_name}_i32")(
        checked(read_i32, write_i32, _combine, not_zero, DIVISION_BY_ZERO)
    )
