"""PRELU: negative elements times a slope that broadcasts."""

import triton
import triton.language as tl

from .broadcast import offsets
from .requantize import clamp, multiply


@triton.jit
def prelu(
    a_ptr, b_ptr, y_ptr, size, n1, n2, n3, a0, a1, a2, a3, b0, b1, b2, b3,
    RANK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    x = tl.load(a_ptr + offsets(i, n1, n2, n3, a0, a1, a2, a3, RANK), ok, 0).to(tl.float32)
    slope = tl.load(b_ptr + offsets(i, n1, n2, n3, b0, b1, b2, b3, RANK), ok, 0).to(tl.float32)
    tl.store(y_ptr + i, tl.where(x >= 0, x, x * slope).to(y_ptr.dtype.element_ty), ok)


@triton.jit
def prelu_quantized(
    a_ptr, b_ptr, y_ptr, size, n1, n2, n3, a0, a1, a2, a3, b0, b1, b2, b3,
    a_zero, b_zero, zero, multiplier, shift, slope_multiplier, slope_shift, low, high,
    RANK: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    x = tl.load(a_ptr + offsets(i, n1, n2, n3, a0, a1, a2, a3, RANK), ok, 0).to(tl.int32) - a_zero
    slope = tl.load(b_ptr + offsets(i, n1, n2, n3, b0, b1, b2, b3, RANK), ok, 0).to(tl.int32) - b_zero
    positive = multiply(x, multiplier, shift, True, True).to(tl.int64)
    negative = multiply(x * slope, slope_multiplier, slope_shift, True, True).to(tl.int64)
    y = clamp(tl.where(x >= 0, positive, negative) + zero, low, high)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), ok)
