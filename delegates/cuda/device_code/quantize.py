"""Conversions between reals and quantized types; elements are [outer, channels, inner]."""

import triton
import triton.language as tl

from .requantize import requantize_one, round_half_even


@triton.jit
def quantize(
    x_ptr, y_ptr, scale_ptr, zero_ptr, size, channels, inner, lowest, highest,
    REFERENCE: tl.constexpr, AT_ONCE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """REFERENCE divides and rounds half away from zero, else a product is rounded half to even.

    scale_ptr has scales, or else their reciprocals. NaN becomes the lowest, or of products the highest of
    8 bits. Where AT_ONCE is not 0, there is one channel, its scale lies behind the reciprocal, and what is
    behind the last whole AT_ONCE elements is divided in float64 and rounded half away from zero.
    """
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    channel = i // inner % channels
    x = tl.load(x_ptr + i, ok, 0).to(tl.float32)
    scale = tl.load(scale_ptr + channel, ok, 1)
    zero = tl.load(zero_ptr + channel, ok, 0)
    real = tl.div_rn(x, scale) if REFERENCE else x * scale
    low, high = (lowest - zero).to(tl.float32), (highest - zero).to(tl.float32)
    if not REFERENCE and AT_ONCE == 0:
        real = tl.where(real < high, real, high)
    real = tl.where(real > low, real, low)
    real = tl.where(real < high, real, high)
    if REFERENCE:
        magnitude = tl.abs(real)
        whole = tl.floor(magnitude)
        whole = (whole + tl.where(magnitude - whole >= 0.5, 1.0, 0.0)).to(tl.int32)
        whole = tl.where(real < 0, -whole, whole)
    else:
        whole = round_half_even(real)
    if AT_ONCE:
        exact = x.to(tl.float64) / tl.load(scale_ptr + 1).to(tl.float64)
        exact = tl.where(exact > low, exact, low.to(tl.float64))
        exact = tl.where(exact < high, exact, high.to(tl.float64))
        rounded = tl.floor(tl.abs(exact) + 0.5)
        rest = tl.where(exact < 0, -rounded, rounded).to(tl.int32)
        whole = tl.where(i < size // AT_ONCE * AT_ONCE, whole, rest)
    tl.store(y_ptr + i, (whole + zero).to(y_ptr.dtype.element_ty), ok)


@triton.jit
def dequantize(x_ptr, y_ptr, scale_ptr, zero_ptr, size, channels, inner, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    channel = i // inner % channels
    x = tl.load(x_ptr + i, ok, 0).to(tl.int32) - tl.load(zero_ptr + channel, ok, 0)
    y = x.to(tl.float32) * tl.load(scale_ptr + channel, ok, 1)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def requantize(x_ptr, y_ptr, size, x_zero, y_zero, multiplier, shift, low, high, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    x = tl.load(x_ptr + i, ok, 0).to(tl.int32) - x_zero
    y = requantize_one(x, multiplier, shift, y_zero, low, high)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), ok)
