"""Arithmetic of two tensors, broadcast against each other. Both and the result are of one type."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .dtypes import COMPLEX, FLOATS, INTEGERS, NUMBERS, REAL, SIGNED, STRING
from .half_precision import in_float32, widened
from .registry import KernelRegistration, kernel
from .status import InvalidArgumentError


def add(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x + y; strings are joined."""
    return np.asarray(x + y, x.dtype)


def larger(a: np.ndarray | float, b: np.ndarray | float) -> np.ndarray:
    """The larger, a where one is no number, as C++'s std::max has it."""
    return np.where(a < b, b, a)


def smaller(a: np.ndarray | float, b: np.ndarray | float) -> np.ndarray:
    """The smaller, a where one is no number, as C++'s std::min has it."""
    return np.where(b < a, b, a)


def _no_zero(x: np.ndarray, y: np.ndarray) -> None:
    """InvalidArgumentError for an integer that is divided by 0."""
    if y.dtype.kind in "iu" and x.size and not np.all(y):
        raise InvalidArgumentError("Integer division by zero")


def truncate_mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The remainder with x's sign."""
    _no_zero(x, y)
    return np.fmod(x, y)


def truncate_div(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x / y, rounded towards zero."""
    _no_zero(x, y)
    if x.dtype.kind in "iu":
        # The quotient that leaves fmod's remainder is exact.
        return np.floor_divide(x - np.fmod(x, y), y)
    return np.trunc(_quotient(x, y))


def _quotient(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x / y as a number of x's type, which may round it up to a whole one.

    What is too small to be normal counts as zero, as in all of TensorFlow.
    """
    found = np.asarray(widened(x) / widened(y))
    return np.where(np.abs(found) < np.finfo(found.dtype).tiny, found * 0, found).astype(x.dtype)


def floor_div(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x / y, rounded down."""
    _no_zero(x, y)
    return np.floor_divide(x, y) if x.dtype.kind in "iu" else np.floor(_quotient(x, y))


def floor_mod(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The remainder with y's sign: of floats fmod(x, y), and y more where the signs differ.

    Source: TensorFlow tensorflow/core/kernels/cwise_ops.h, google_floor_fmod.
    """
    _no_zero(x, y)
    if x.dtype.kind in "iu":
        return np.asarray(np.mod(x, y))
    remainder = np.fmod(x, y)
    return np.where((remainder != 0) & ((y < 0) != (remainder < 0)), remainder + y, remainder)


def div(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x / y; of integers rounded towards zero."""
    return truncate_div(x, y) if x.dtype.kind in "iu" else np.asarray(x / y)


def _unless(zero: np.ndarray, value: np.ndarray) -> np.ndarray:
    """The value, but 0 where zero holds."""
    return np.where(zero, np.zeros((), value.dtype), value)


def div_no_nan(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x / y, 0 where y is 0."""
    return _unless(y == 0, np.asarray(x / y))


def mul_no_nan(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x y, 0 where y is 0, whatever x is."""
    return _unless(y == 0, np.asarray(x * y))


def xdivy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x / y, 0 where x is 0."""
    return _unless(x == 0, np.asarray(x / y))


def xlogy(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x log y, 0 where x is 0."""
    return _unless(x == 0, np.asarray(x * np.log(y)))


def xlog1py(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x log(1 + y), 0 where x is 0."""
    return _unless(x == 0, np.asarray(x * np.log1p(y)))


def squared_difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(x - y) conj(x - y); 16-bit floats are rounded after each step, as everywhere where nothing widens."""
    difference = x - y
    conjugate = np.conj(difference) if x.dtype.kind == "c" else difference
    return np.asarray(difference * conjugate)


def pow_(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x to the y; integers wrap around, and may not have negative powers."""
    if x.dtype.kind == "i" and x.size and np.any(y < 0):
        raise InvalidArgumentError("Integers to negative integer powers are not allowed")
    return np.asarray(np.power(x, y))


def _shift_count(y: np.ndarray) -> np.ndarray:
    return np.clip(y, 0, 8 * y.dtype.itemsize - 1).astype(y.dtype)


def left_shift(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x shifted left; counts are limited to 0 up to the type's bits less 1."""
    return np.left_shift(x, _shift_count(y))


def right_shift(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """x shifted right, with its sign; counts are limited as left_shift's."""
    return np.right_shift(x, _shift_count(y))


def clip_by_value(t: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """max(min(t, high), low), of complex numbers part by part; low and high have t's shape or are scalars.

    A bound that is NaN is none.
    Raises InvalidArgumentError for any other shape.
    """
    for bound in (low, high):
        if bound.ndim and bound.shape != t.shape:
            message = f"bounds must be scalars or have the shape {list(t.shape)}, got {list(bound.shape)}"
            raise InvalidArgumentError(f"ClipByValue: {message}")
    if t.dtype.kind != "c":
        return _clipped(t, low, high)
    made = np.empty_like(t)
    made.real = _clipped(t.real, low.real, high.real)
    made.imag = _clipped(t.imag, low.imag, high.imag)
    return made


def _clipped(t: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    below = np.where(t > high, high, t)
    return np.where(below < low, low, below)


def next_after(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.nextafter(x, y)


def _each(functions: dict[str, Callable[..., np.ndarray]], types: frozenset[int]) -> list[KernelRegistration]:
    return [kernel(op, in_float32(function), T=types) for op, function in functions.items()]


REGISTRATIONS = (
    *_each({"Add": add, "AddV2": add}, NUMBERS | STRING),
    *_each({"Sub": np.subtract, "Mul": np.multiply, "Div": div}, NUMBERS),
    kernel("SquaredDifference", squared_difference, T=NUMBERS),
    *_each({"RealDiv": np.true_divide, "DivNoNan": div_no_nan, "MulNoNan": mul_no_nan}, FLOATS | COMPLEX),
    *_each({"Xdivy": xdivy}, FLOATS | COMPLEX),
    *(kernel(op, function, T=FLOATS | COMPLEX) for op, function in (("Xlogy", xlogy), ("Xlog1py", xlog1py))),
    kernel("TruncateDiv", truncate_div, T=REAL),
    kernel("FloorDiv", floor_div, T=REAL),
    kernel("FloorMod", in_float32(floor_mod), T=REAL),
    *_each({"Mod": truncate_mod, "TruncateMod": truncate_mod}, REAL),
    *_each({"Maximum": np.maximum, "Minimum": np.minimum}, REAL),
    kernel("Pow", in_float32(pow_), T=FLOATS | SIGNED | COMPLEX),
    kernel("Atan2", in_float32(np.arctan2), T=FLOATS),
    kernel("NextAfter", next_after, T=FLOATS),
    kernel("ClipByValue", in_float32(clip_by_value), T=NUMBERS),
    *_each({"LeftShift": left_shift, "RightShift": right_shift}, INTEGERS),
    *_each(
        {"BitwiseAnd": np.bitwise_and, "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor}, INTEGERS
    ),
)
