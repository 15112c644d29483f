"""Functions of two operands with broadcasting: a tile of the result's last loop by all others."""

import triton
import triton.language as tl

from .broadcast import places
from .mathematics import power, power_of_integers
from .requantize import clamp, requantize_one, round_half_even, sum_fixed, to_common_scale
from .status import report_any


@triton.jit
def _quotient(x, y):
    """Of integers, cut towards zero; the one that overflows wraps around."""
    plain = (y != 0) & (y != -1)
    return tl.where(y == -1, -x, x // tl.where(plain, y, 1))


@triton.jit
def _floored(x, y, quotient):
    """Whether the floored quotient is one less."""
    rest = x - quotient * y
    return (rest != 0) & ((rest < 0) != (y < 0))


@triton.jit
def combine(x, y, OP: tl.constexpr, FLOAT: tl.constexpr):
    if OP == "add":
        return x + y
    elif OP == "sub":
        return x - y
    elif OP == "mul":
        return x * y
    elif OP == "div":
        return tl.div_rn(x, y) if FLOAT else _quotient(x, y)
    elif OP == "floor_div":
        if FLOAT:
            return tl.floor(tl.div_rn(x, y))
        else:
            quotient = _quotient(x, y)
            return tl.where(_floored(x, y, quotient), quotient - 1, quotient)
    elif OP == "floor_mod":
        quotient = _quotient(x, y)
        rest = x - quotient * y
        return tl.where(_floored(x, y, quotient), rest + y, rest)
    elif OP == "pow":
        return power(x, y) if FLOAT else power_of_integers(x, y)
    elif OP == "maximum":
        return tl.where(x > y, x, y)
    elif OP == "minimum":
        return tl.where(x < y, x, y)
    elif OP == "equal":
        return x == y
    elif OP == "not_equal":
        return x != y
    elif OP == "less":
        return x < y
    elif OP == "less_equal":
        return x <= y
    elif OP == "logical_and":
        return (x != 0) & (y != 0)
    elif OP == "logical_or":
        return (x != 0) | (y != 0)
    else:
        tl.static_assert(OP == "squared_difference")
        return (x - y) * (x - y)


@triton.jit
def plain(
    a_ptr, b_ptr, y_ptr, rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, low, high,
    OP: tl.constexpr, CLAMP: tl.constexpr, FLOAT: tl.constexpr,
    A_STEP: tl.constexpr, B_STEP: tl.constexpr, RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """float and integer operators as they are; FLOAT computes in float32 whatever the tensors hold."""
    a_at, b_at, y_at, ok = places(
        rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, A_STEP, B_STEP, RANK, ROWS, COLUMNS
    )
    a = tl.load(a_ptr + a_at, ok, 0)
    b = tl.load(b_ptr + b_at, ok, 1)
    if FLOAT:
        a, b = a.to(tl.float32), b.to(tl.float32)
    y = combine(a, b, OP, FLOAT)
    if CLAMP:
        y = clamp(y, low, high)
    tl.store(y_ptr + y_at, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def checked(
    a_ptr, b_ptr, y_ptr, rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, low, high, status_ptr, report,
    OP: tl.constexpr, CLAMP: tl.constexpr, FLOAT: tl.constexpr,
    A_STEP: tl.constexpr, B_STEP: tl.constexpr, RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """plain, where b must not be zero, or as the exponent of integers not negative."""
    a_at, b_at, y_at, ok = places(
        rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, A_STEP, B_STEP, RANK, ROWS, COLUMNS
    )
    a = tl.load(a_ptr + a_at, ok, 0)
    b = tl.load(b_ptr + b_at, ok, 1)
    report_any(status_ptr, report, ok & ((b < 0) if OP == "pow" else (b == 0)))
    if FLOAT:
        a, b = a.to(tl.float32), b.to(tl.float32)
    y = combine(a, b, OP, FLOAT)
    if CLAMP:
        y = clamp(y, low, high)
    tl.store(y_ptr + y_at, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def by_table(
    a_ptr, b_ptr, y_ptr, rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, a_table_ptr, b_table_ptr,
    OP: tl.constexpr, MASK: tl.constexpr,
    A_STEP: tl.constexpr, B_STEP: tl.constexpr, RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Comparisons of what integers stand for, by tables of the unsigned ones."""
    a_at, b_at, y_at, ok = places(
        rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, A_STEP, B_STEP, RANK, ROWS, COLUMNS
    )
    a = tl.load(a_table_ptr + (tl.load(a_ptr + a_at, ok, 0).to(tl.int32) & MASK))
    b = tl.load(b_table_ptr + (tl.load(b_ptr + b_at, ok, 0).to(tl.int32) & MASK))
    tl.store(y_ptr + y_at, combine(a, b, OP, False).to(y_ptr.dtype.element_ty), ok)


@triton.jit
def sum_q8(
    a_ptr, b_ptr, y_ptr, rows, columns, n1, n2, a0, a1, a2, b0, b1, b2,
    a_multiplier, b_multiplier, bias, shift, zero, low, high,
    A_STEP: tl.constexpr, B_STEP: tl.constexpr, RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    a_at, b_at, y_at, ok = places(
        rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, A_STEP, B_STEP, RANK, ROWS, COLUMNS
    )
    a = tl.load(a_ptr + a_at, ok, 0).to(tl.int32)
    b = tl.load(b_ptr + b_at, ok, 0).to(tl.int32)
    y = sum_fixed(a, b, a_multiplier, b_multiplier, bias, shift, zero, low, high)
    tl.store(y_ptr + y_at, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def product_q8(
    a_ptr, b_ptr, y_ptr, rows, columns, n1, n2, a0, a1, a2, b0, b1, b2,
    a_zero, b_zero, zero, low, high, scale,
    A_STEP: tl.constexpr, B_STEP: tl.constexpr, RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    a_at, b_at, y_at, ok = places(
        rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, A_STEP, B_STEP, RANK, ROWS, COLUMNS
    )
    a = tl.load(a_ptr + a_at, ok, 0).to(tl.int32) - a_zero
    b = tl.load(b_ptr + b_at, ok, 0).to(tl.int32) - b_zero
    scaled = (a * b).to(tl.float32) * scale
    scaled = clamp(scaled, (low - zero).to(tl.float32), (high - zero).to(tl.float32))
    tl.store(y_ptr + y_at, (round_half_even(scaled) + zero).to(y_ptr.dtype.element_ty), ok)


@triton.jit
def sum_q8_reference(
    a_ptr, b_ptr, y_ptr, rows, columns, n1, n2, a0, a1, a2, b0, b1, b2,
    left_shift, a_zero, a_multiplier, a_shift, b_zero, b_multiplier, b_shift, b_sign,
    multiplier, shift, zero, low, high,
    SQUARED: tl.constexpr,
    A_STEP: tl.constexpr, B_STEP: tl.constexpr, RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    a_at, b_at, y_at, ok = places(
        rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, A_STEP, B_STEP, RANK, ROWS, COLUMNS
    )
    a = tl.load(a_ptr + a_at, ok, 0).to(tl.int32)
    b = tl.load(b_ptr + b_at, ok, 0).to(tl.int32)
    a = to_common_scale(a, a_zero, a_multiplier, a_shift, left_shift)
    b = to_common_scale(b, b_zero, b_multiplier, b_shift, left_shift)
    y = a + b * b_sign
    if SQUARED:
        y = y * y
    y = requantize_one(y, multiplier, shift, zero, low, high)
    tl.store(y_ptr + y_at, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def product_q8_reference(
    a_ptr, b_ptr, y_ptr, rows, columns, n1, n2, a0, a1, a2, b0, b1, b2,
    a_zero, b_zero, multiplier, shift, zero, low, high,
    A_STEP: tl.constexpr, B_STEP: tl.constexpr, RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    a_at, b_at, y_at, ok = places(
        rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, A_STEP, B_STEP, RANK, ROWS, COLUMNS
    )
    a = tl.load(a_ptr + a_at, ok, 0).to(tl.int32) - a_zero
    b = tl.load(b_ptr + b_at, ok, 0).to(tl.int32) - b_zero
    y = requantize_one(a * b, multiplier, shift, zero, low, high)
    tl.store(y_ptr + y_at, y.to(y_ptr.dtype.element_ty), ok)
