"""Binary operators on integers without quantization, and comparisons of stored bytes."""

import numpy as np
from numba import njit

from ..binary import BINARY, BINARY_INT, DIVISION_BY_ZERO
from .broadcast import broadcast_kernel
from .driver.kernel_source import KernelSources
from .language.elements import (
    read_i8,
    read_i16,
    read_i32,
    read_i64,
    read_u8,
    write_i8,
    write_i16,
    write_i32,
    write_i64,
    write_u8,
)

kernels = KernelSources()


@njit(error_model="numpy")
def _nothing(block):
    return 0


@njit(error_model="numpy")
def _range_i32(block):
    return np.int32(block.low), np.int32(block.high)


@njit(error_model="numpy")
def _range_i16(block):
    return np.int16(block.low), np.int16(block.high)


@njit(error_model="numpy")
def _range_i8(block):
    return np.int8(block.low), np.int8(block.high)


@njit(error_model="numpy")
def _range_i64(block):
    return block.low, block.high


@njit(error_model="numpy")
def _clamp(x, limits):
    x = limits[0] if x < limits[0] else x
    return limits[1] if x > limits[1] else x


@njit(error_model="numpy")
def _maximum(x, y, p):
    return x if x > y else y


@njit(error_model="numpy")
def _minimum(x, y, p):
    return x if x < y else y


def _arithmetic(width):
    """ADD, SUB, MUL and SQUARED_DIFFERENCE that wrap around at the width of a NumPy integer type."""

    @njit(error_model="numpy")
    def add(x, y, limits):
        return _clamp(width(x + y), limits)

    @njit(error_model="numpy")
    def sub(x, y, limits):
        return _clamp(width(x - y), limits)

    @njit(error_model="numpy")
    def mul(x, y, limits):
        return _clamp(width(x * y), limits)

    @njit(error_model="numpy")
    def squared_difference(x, y, limits):
        difference = width(x - y)
        return _clamp(width(difference * difference), limits)

    return {"add": add, "sub": sub, "mul": mul, "squared_difference": squared_difference}


def _division_i32():
    """The quotient truncated towards zero: exact in float64, which has vector code."""

    @njit(error_model="numpy")
    def div(x, y, limits):
        # For a zero divisor any value serves, as the kernel then fails.
        divisor = np.float64(1) if y == 0 else np.float64(y)
        return _clamp(np.int32(np.int64(np.float64(x) / divisor)), limits)

    return div


def _division_i64():
    """The quotient truncated towards zero; for a zero divisor any value, as the kernel then fails."""

    @njit(error_model="numpy")
    def div(x, y, limits):
        if y == 0:
            return np.int64(0)
        if y == -1:  # the one quotient that overflows wraps around
            return _clamp(np.int64(-x), limits)
        quotient = x // y
        if quotient < 0 and quotient * y != x:
            quotient += 1
        return _clamp(np.int64(quotient), limits)

    return div


def _checked_division(read, write, limits, combine):
    """A broadcast kernel that first looks at every element of the divisor."""
    divide = njit(error_model="numpy")(broadcast_kernel(read, write, limits, combine))

    def kernel(block, chunk, chunks):
        count = 1
        for d in range(len(block.shape)):
            if block.b_strides[d] != 0:
                count *= block.shape[d]
        for i in range(count):
            if read(block.b, i) == 0:
                return DIVISION_BY_ZERO
        return divide(block, chunk, chunks)

    return kernel


for _suffix, _read, _write, _range, _width in (
    ("i8", read_i8, write_i8, _range_i8, np.int8),
    ("i16", read_i16, write_i16, _range_i16, np.int16),
    ("i32", read_i32, write_i32, _range_i32, np.int32),
    ("i64", read_i64, write_i64, _range_i64, np.int64),
):
    for _name, _combine in _arithmetic(_width).items():
        kernels.add(BINARY_INT, f"{_name}_{_suffix}")(broadcast_kernel(_read, _write, _range, _combine))

for _suffix, _read, _write, _range, _division in (
    ("i32", read_i32, write_i32, _range_i32, _division_i32()),
    ("i64", read_i64, write_i64, _range_i64, _division_i64()),
):
    kernels.add(BINARY_INT, f"div_{_suffix}")(_checked_division(_read, _write, _range, _division))

for _suffix, _read, _write in (
    ("i8", read_i8, write_i8),
    ("u8", read_u8, write_u8),
    ("i16", read_i16, write_i16),
    ("i32", read_i32, write_i32),
    ("i64", read_i64, write_i64),
):
    for _name, _combine in (("maximum", _maximum), ("minimum", _minimum)):
        kernels.add(BINARY, f"{_name}_{_suffix}")(broadcast_kernel(_read, _write, _nothing, _combine))
