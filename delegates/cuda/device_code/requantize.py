"""From an accumulator to a quantized output, bit for bit as kernels/compiled/requantize.py has it."""

import triton
import triton.language as tl


@triton.jit
def clamp(x, low, high):
    """x within [low, high]; NaN stays NaN."""
    x = tl.where(x < low, low, x)
    return tl.where(x > high, high, x)


# Added to a float32 below 2**22 in size, it leaves the integer, ties to even, in the lowest bits.
_ROUNDER: tl.constexpr = tl.constexpr(12582912.0)
_ROUNDER_BITS: tl.constexpr = tl.constexpr(0x4B400000)


@triton.jit
def clamp_float(x, low, high):
    """float32 x within [low, high]; NaN stays NaN."""
    x = tl.maximum(x, low, propagate_nan=tl.PropagateNan.ALL)
    return tl.minimum(x, high, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def round_half_even(x):
    """int32 of a float32 below 2**22 in size, ties to even."""
    return (x + _ROUNDER).to(tl.int32, bitcast=True) - _ROUNDER_BITS


@triton.jit
def nearest_product(x, y, INTERPRETED: tl.constexpr):
    """round_half_even of a product, itself rounded to float32. The compiler would fuse both into one."""
    if INTERPRETED:
        return round_half_even(x * y)
    x, y = tl.broadcast(x, y)
    bits = tl.inline_asm_elementwise(
        "{ .reg .f32 p; mul.rn.f32 p, $1, $2; add.rn.f32 $0, p, 0f4B400000; }",
        "=r,r,r", [x, y], dtype=tl.int32, is_pure=True, pack=1,
    )  # fmt: skip
    return bits - _ROUNDER_BITS


@triton.jit
def multiply(x, multiplier, shift, away: tl.constexpr, wide: tl.constexpr):
    """x (int32) * multiplier * 2**(shift - 31) in fixed point.

    The second step rounds ties away from zero, or upwards unless `away`. wide is for sums that
    may come near 2**31 on the way.
    """
    left = tl.maximum(shift, 0)
    right = tl.maximum(-shift, 0)
    high = ((x << left).to(tl.int64) * multiplier.to(tl.int64) + (1 << 30)) >> 31
    if wide:
        half = (tl.full((1,), 1, tl.int64) << right.to(tl.int64)) >> 1
        nudged = high + half
        if away:
            nudged += tl.where(right > 0, high >> 63, 0)
        return (nudged >> right.to(tl.int64)).to(tl.int32)
    high = high.to(tl.int32)
    nudged = high + ((tl.full((1,), 1, tl.int32) << right) >> 1)
    if away:
        nudged += tl.where(right > 0, high >> 31, 0)
    return nudged >> right


@triton.jit
def requantize(
    acc,
    n,
    mask,
    scale_ptr,
    shift_ptr,
    zero,
    low,
    high,
    ROUNDING: tl.constexpr,
    WIDE: tl.constexpr,
    CLAMP: tl.constexpr = True,
    INTERPRETED: tl.constexpr = False,
):
    """int32 acc of channels n as quantized values in [low, high].

    ROUNDING is one of kernels/requantize.py: scale_ptr holds float32 or float64 scales, or int32
    multipliers. Without CLAMP, which takes sums whose results fit 22 bits, values are as they come out.
    """
    scale = tl.load(scale_ptr + n, mask, 0)[None, :]
    if ROUNDING == 0:
        # Scales of this rounding are finite, so that there is no NaN to keep.
        if not CLAMP:
            return nearest_product(acc.to(tl.float32), scale, INTERPRETED) + zero
        product = tl.maximum(acc.to(tl.float32) * scale, (low - zero).to(tl.float32))
        product = tl.minimum(product, (high - zero).to(tl.float32))
        return (product + _ROUNDER).to(tl.int32, bitcast=True) + (zero - _ROUNDER_BITS)
    elif ROUNDING == 3:
        real = clamp(acc.to(tl.float64) * scale, (low - zero).to(tl.float64), (high - zero).to(tl.float64))
        half = tl.full((1,), 0.49999999999999994, tl.float64)
        return (real + tl.where(real >= 0, half, -half)).to(tl.int32) + zero
    else:
        shift = tl.load(shift_ptr + n, mask, 0)[None, :]
        scaled = multiply(acc, scale, shift, ROUNDING == 1, WIDE)
        if WIDE:
            return clamp(scaled.to(tl.int64) + zero, low, high).to(tl.int32)
        return clamp(scaled + zero, low, high) if CLAMP else scaled + zero


@triton.jit
def saturate(x, LOWEST: tl.constexpr, INTERPRETED: tl.constexpr):
    """int32 as the nearest int8 (LOWEST -128) or uint8 (0): int8, by its bits. The interpreter has no asm."""
    if INTERPRETED:
        return tl.minimum(tl.maximum(x, LOWEST), LOWEST + 255).to(tl.uint8).to(tl.int8, bitcast=True)
    if LOWEST == 0:
        return tl.inline_asm_elementwise(
            "{ .reg .b32 t; cvt.pack.sat.u8.s32.b32 t, $4, $3, 0; cvt.pack.sat.u8.s32.b32 $0, $2, $1, t; }",
            "=r,r,r,r,r", [x], dtype=tl.int8, is_pure=True, pack=4,
        )  # fmt: skip
    return tl.inline_asm_elementwise(
        "{ .reg .b32 t; cvt.pack.sat.s8.s32.b32 t, $4, $3, 0; cvt.pack.sat.s8.s32.b32 $0, $2, $1, t; }",
        "=r,r,r,r,r", [x], dtype=tl.int8, is_pure=True, pack=4,
    )  # fmt: skip


@triton.jit
def sum_fixed(a, b, a_multiplier, b_multiplier, bias, shift, zero, low, high):
    """clamp(zero + ((bias + a * a_multiplier + b * b_multiplier) >> shift)) of int32."""
    return clamp(((bias + a * a_multiplier + b * b_multiplier) >> shift) + zero, low, high)


@triton.jit
def to_common_scale(x, zero, multiplier, shift, left_shift):
    return multiply((x - zero) << left_shift, multiplier, shift, True, True)


@triton.jit
def requantize_one(x, multiplier, shift, zero, low, high):
    """clamp(zero + x * multiplier * 2**(shift - 31)) with one scale, the reference's rounding."""
    return clamp(multiply(x, multiplier, shift, True, True).to(tl.int64) + zero, low, high).to(tl.int32)
