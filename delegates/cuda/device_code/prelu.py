"""PRELU: negative elements times a slope that broadcasts."""

import triton
import triton.language as tl

from .broadcast import places
from .requantize import clamp, multiply


@triton.jit
def prelu(
    a_ptr, b_ptr, y_ptr, rows, columns, n1, n2, a0, a1, a2, b0, b1, b2,
    A_STEP: tl.constexpr, B_STEP: tl.constexpr, RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    a_at, b_at, y_at, ok = places(
        rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, A_STEP, B_STEP, RANK, ROWS, COLUMNS
    )
    x = tl.load(a_ptr + a_at, ok, 0).to(tl.float32)
    slope = tl.load(b_ptr + b_at, ok, 0).to(tl.float32)
    tl.store(y_ptr + y_at, tl.where(x >= 0, x, x * slope).to(y_ptr.dtype.element_ty), ok)


@triton.jit
def prelu_quantized(
    a_ptr, b_ptr, y_ptr, rows, columns, n1, n2, a0, a1, a2, b0, b1, b2,
    a_zero, b_zero, zero, multiplier, shift, slope_multiplier, slope_shift, low, high,
    A_STEP: tl.constexpr, B_STEP: tl.constexpr, RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    a_at, b_at, y_at, ok = places(
        rows, columns, n1, n2, a0, a1, a2, b0, b1, b2, A_STEP, B_STEP, RANK, ROWS, COLUMNS
    )
    x = tl.load(a_ptr + a_at, ok, 0).to(tl.int32) - a_zero
    slope = tl.load(b_ptr + b_at, ok, 0).to(tl.int32) - b_zero
    positive = multiply(x, multiplier, shift, True, True).to(tl.int64)
    negative = multiply(x * slope, slope_multiplier, slope_shift, True, True).to(tl.int64)
    y = clamp(tl.where(x >= 0, positive, negative) + zero, low, high)
    tl.store(y_ptr + y_at, y.to(y_ptr.dtype.element_ty), ok)
