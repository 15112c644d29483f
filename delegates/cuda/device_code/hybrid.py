"""Rows of floats quantized to int8 by their own ranges, as the CPU's hybrid operators do it."""

import triton
import triton.language as tl

from .requantize import round_half_even


@triton.jit
def _rounded_product(x, y, INTERPRETED: tl.constexpr):
    """x * y, rounded to float32. The compiler would fuse it with a sum behind it."""
    x, y = tl.broadcast(x, y)
    if INTERPRETED:
        product = x * y
    else:
        product = tl.inline_asm_elementwise(
            "mul.rn.f32 $0, $1, $2;", "=f,f,f", [x, y], dtype=tl.float32, is_pure=True, pack=1
        )
    return product


@triton.jit
def _half_away(x):
    """float32 rounded, ties away from zero: int32."""
    magnitude = tl.abs(x)
    whole = magnitude.to(tl.int32)
    whole += tl.where(magnitude - whole.to(tl.float32) >= 0.5, 1, 0)
    return tl.where(x < 0, -whole, whole)


@triton.jit
def _better_end(low, high, scale):
    """The zero point (int32) that puts the better of both ends on a whole number, in float64."""
    at_low, at_high = low.to(tl.float64) / scale, high.to(tl.float64) / scale
    is_low = 128.0 + tl.abs(at_low) < 127.0 + tl.abs(at_high)
    zero = tl.where(is_low, -128.0 - at_low, 127.0 - at_high)
    zero = tl.where(zero < -128.0, -128.0, tl.where(zero > 127.0, 127.0, zero))
    whole = (tl.abs(zero) + 0.5).to(tl.int32)
    return tl.where(zero < 0, -whole, whole)


@triton.jit
def quantize_rows(
    x_ptr, y_ptr, rows_ptr, rows, depth,
    REFERENCE: tl.constexpr, SYMMETRIC: tl.constexpr, CENTRED: tl.constexpr, INTERPRETED: tl.constexpr,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """y [rows, depth] from x, less its zero point where CENTRED; rows_ptr [rows, 2] gets that and the scale.

    The scale is stored by its bits. REFERENCE is TFLite's arithmetic, perhaps SYMMETRIC, else XNNPACK's.
    """
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    low = tl.zeros((ROWS, BLOCK), tl.float32)
    high = tl.zeros((ROWS, BLOCK), tl.float32)
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        x = tl.load(x_ptr + row * depth + c, (row < rows) & (c < depth), 0).to(tl.float32)
        low = tl.where(x < low, x, low)
        high = tl.where(x > high, x, high)
    low, high = tl.min(low, 1)[:, None], tl.max(high, 1)[:, None]
    one = tl.full((ROWS, 1), 1.0, tl.float32)
    none = tl.zeros((ROWS, 1), tl.int32)
    if SYMMETRIC:
        greatest = tl.maximum(-low, high)
        some = greatest > 0
        greatest = tl.where(some, greatest, 1.0)
        scale = tl.where(some, tl.div_rn(greatest, one * 127.0), 1.0)
        factor = tl.where(some, tl.div_rn(one * 127.0, greatest), 0.0)
        zero = none
    elif REFERENCE:
        some = low != high
        step = (high.to(tl.float64) - low.to(tl.float64)) / 255.0
        scale = tl.where(some, step.to(tl.float32), 1.0)
        factor = tl.where(some, tl.div_rn(one, scale), 0.0)
        zero = tl.where(some, _better_end(low, high, tl.where(some, step, 1.0)), 0)
    else:
        some = low != high
        factor = tl.where(some, tl.div_rn(one * 255.0, tl.where(some, high - low, 1.0)), 1.0)
        scale = tl.div_rn(one, factor)
        at_low = _rounded_product(low, factor, INTERPRETED)
        at_high = _rounded_product(high, factor, INTERPRETED)
        real = tl.where((-128.0 + at_low) + (127.0 + at_high) > 0, -128.0 - at_low, 127.0 - at_high)
        zero = round_half_even(tl.minimum(tl.maximum(real, -128.0), 127.0))
    tl.store(rows_ptr + 2 * row, zero, row < rows)
    tl.store(rows_ptr + 2 * row + 1, scale.to(tl.int32, bitcast=True), row < rows)
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        ok = (row < rows) & (c < depth)
        x = tl.load(x_ptr + row * depth + c, ok, 0).to(tl.float32)
        product = _rounded_product(x, factor, INTERPRETED)
        if REFERENCE:
            y = _half_away(product) + zero
            y = tl.minimum(tl.maximum(y, -127 if SYMMETRIC else -128), 127)
            y = tl.where(product == product, y, 0)
        else:
            y = round_half_even(tl.minimum(tl.maximum(product, -1024.0), 1024.0)) + zero
            y = tl.minimum(tl.maximum(y, -128), 127)
        if CENTRED:
            y -= zero
        tl.store(y_ptr + row * depth + c, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def reals(acc, sums, row, valid_row, channel, valid_n, rows_ptr, scale_ptr):
    """float32 from sums of products (int32), of rows by channels, that quantize_rows has quantized.

    sums are those of the weights, scale_ptr has the channels' scales.
    """
    zero = tl.load(rows_ptr + 2 * row, valid_row, 0)[:, None]
    row_scale = tl.load(rows_ptr + 2 * row + 1, valid_row, 0).to(tl.float32, bitcast=True)[:, None]
    scale = tl.load(scale_ptr + channel, valid_n, 0)[None, :]
    return (acc - sums * zero).to(tl.float32) * row_scale * scale
