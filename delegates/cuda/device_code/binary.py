"""Binary elementwise operators with broadcasting, and functions of one operand."""

import triton
import triton.language as tl

from .broadcast import offsets
from .requantize import clamp, requantize_one, round_half_even, sum_fixed, to_common_scale


@triton.jit
def combine(x, y, OP: tl.constexpr):
    if OP == "add":
        return x + y
    elif OP == "sub":
        return x - y
    elif OP == "mul":
        return x * y
    elif OP == "div":
        return x / y
    elif OP == "maximum":
        return tl.where(x > y, x, y)
    elif OP == "minimum":
        return tl.where(x < y, x, y)
    else:
        return (x - y) * (x - y)


@triton.jit
def plain(
    a_ptr, b_ptr, y_ptr, size, n1, n2, n3, a0, a1, a2, a3, b0, b1, b2, b3, low, high,
    OP: tl.constexpr, RANK: tl.constexpr, CLAMP: tl.constexpr, HALF: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """float and integer operators as they are; HALF computes 16-bit floats in float32."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    a = tl.load(a_ptr + offsets(i, n1, n2, n3, a0, a1, a2, a3, RANK), ok, 0)
    b = tl.load(b_ptr + offsets(i, n1, n2, n3, b0, b1, b2, b3, RANK), ok, 1)
    if HALF:
        a, b = a.to(tl.float32), b.to(tl.float32)
    y = combine(a, b, OP)
    if CLAMP:
        y = clamp(y, low, high)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def sum_q8(
    a_ptr, b_ptr, y_ptr, size, n1, n2, n3, a0, a1, a2, a3, b0, b1, b2, b3,
    a_multiplier, b_multiplier, bias, shift, zero, low, high,
    RANK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    a = tl.load(a_ptr + offsets(i, n1, n2, n3, a0, a1, a2, a3, RANK), ok, 0).to(tl.int32)
    b = tl.load(b_ptr + offsets(i, n1, n2, n3, b0, b1, b2, b3, RANK), ok, 0).to(tl.int32)
    y = sum_fixed(a, b, a_multiplier, b_multiplier, bias, shift, zero, low, high)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def product_q8(
    a_ptr, b_ptr, y_ptr, size, n1, n2, n3, a0, a1, a2, a3, b0, b1, b2, b3,
    a_zero, b_zero, zero, low, high, scale,
    RANK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    a = tl.load(a_ptr + offsets(i, n1, n2, n3, a0, a1, a2, a3, RANK), ok, 0).to(tl.int32) - a_zero
    b = tl.load(b_ptr + offsets(i, n1, n2, n3, b0, b1, b2, b3, RANK), ok, 0).to(tl.int32) - b_zero
    scaled = (a * b).to(tl.float32) * scale
    scaled = clamp(scaled, (low - zero).to(tl.float32), (high - zero).to(tl.float32))
    tl.store(y_ptr + i, (round_half_even(scaled) + zero).to(y_ptr.dtype.element_ty), ok)


@triton.jit
def sum_q8_reference(
    a_ptr, b_ptr, y_ptr, size, n1, n2, n3, a0, a1, a2, a3, b0, b1, b2, b3,
    left_shift, a_zero, a_multiplier, a_shift, b_zero, b_multiplier, b_shift, b_sign,
    multiplier, shift, zero, low, high,
    SQUARED: tl.constexpr, RANK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    a = tl.load(a_ptr + offsets(i, n1, n2, n3, a0, a1, a2, a3, RANK), ok, 0).to(tl.int32)
    b = tl.load(b_ptr + offsets(i, n1, n2, n3, b0, b1, b2, b3, RANK), ok, 0).to(tl.int32)
    a = to_common_scale(a, a_zero, a_multiplier, a_shift, left_shift)
    b = to_common_scale(b, b_zero, b_multiplier, b_shift, left_shift)
    y = a + b * b_sign
    if SQUARED:
        y = y * y
    y = requantize_one(y, multiplier, shift, zero, low, high)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def product_q8_reference(
    a_ptr, b_ptr, y_ptr, size, n1, n2, n3, a0, a1, a2, a3, b0, b1, b2, b3,
    a_zero, b_zero, multiplier, shift, zero, low, high,
    RANK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    a = tl.load(a_ptr + offsets(i, n1, n2, n3, a0, a1, a2, a3, RANK), ok, 0).to(tl.int32) - a_zero
    b = tl.load(b_ptr + offsets(i, n1, n2, n3, b0, b1, b2, b3, RANK), ok, 0).to(tl.int32) - b_zero
    y = requantize_one(a * b, multiplier, shift, zero, low, high)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), ok)
