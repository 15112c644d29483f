"""Convolution and matrix product as an implicit matrix product, NHWC, float and 8-bit.

Outside the image everything is 0; the input's zero point is in the bias, which differs by border
class: which rows and columns of the filter see the image.
"""

import triton
import triton.language as tl

from .hybrid import reals
from .requantize import clamp_float, requantize, requantize_one, saturate, sum_fixed, to_common_scale


@triton.jit
def add_q8(a, b, p, KIND: tl.constexpr):
    """A quantized addition whose parameters lie at p: fields of kernels/binary.py's blocks."""
    p0, p1, p2, p3 = tl.load(p), tl.load(p + 1), tl.load(p + 2), tl.load(p + 3)
    p4, p5, p6 = tl.load(p + 4), tl.load(p + 5), tl.load(p + 6)
    if KIND == "sum":
        return sum_fixed(a, b, p0, p1, p2, p3, p4, p5, p6)
    a = to_common_scale(a, p1, p2, p3, p0)
    b = to_common_scale(b, p4, p5, p6, p0)
    p7, p8, p9, p10 = tl.load(p + 7), tl.load(p + 8), tl.load(p + 9), tl.load(p + 10)
    return requantize_one(a + b * p7, p8, p9, p10, tl.load(p + 11), tl.load(p + 12))


@triton.jit
def multiply_add(
    a, w, acc, QUANTIZED: tl.constexpr, FLIP: tl.constexpr, PRECISION: tl.constexpr, INTERPRETED: tl.constexpr
):
    """acc + a w. FLIP reads a as uint8 and subtracts 128. The interpreter has no bfloat16 dot."""
    # One return at the end: Triton 3.6 compiles what follows a return in an if, too.
    if FLIP:
        a = (a ^ 0x80).to(tl.int8, bitcast=True)
    if INTERPRETED and w.dtype == tl.bfloat16:
        acc += tl.dot(a.to(tl.float32), w.to(tl.float32), input_precision="ieee")
    elif QUANTIZED:
        acc = tl.dot(a, w, acc, out_dtype=tl.int32)
    else:
        acc = tl.dot(a.to(w.dtype), w, acc, input_precision=PRECISION)
    return acc


@triton.jit
def finish(
    acc, m, valid_m, channel, valid_n, stored, total, y_stride,
    y_ptr, bias_ptr, scale_ptr, shift_ptr, class_ptr, residual_ptr, addition_ptr,
    image_pixels, zero, low, high,
    QUANTIZED: tl.constexpr, BORDER: tl.constexpr, ROUNDING: tl.constexpr, WIDE: tl.constexpr,
    SATURATE: tl.constexpr, RESIDUAL: tl.constexpr, INTERPRETED: tl.constexpr,
):  # fmt: skip
    """Store sums of products of pixels m and channels: bias, rounding or clamp, and residual.

    With SATURATE low and high are those of the type, sums are small enough to be rounded before that, and
    there is no residual.
    RESIDUAL is "", "float", "sum" or "reference".
    ROUNDING 4 (HYBRID) is of rows that are images: bias_ptr has sums of weights, shift_ptr how rows are
    quantized and scale_ptr the channels' scales and biases; results are floats.
    """
    place = m[:, None] * y_stride + channel[None, :]
    if BORDER:
        border = tl.load(class_ptr + m % image_pixels)
        bias = tl.load(bias_ptr + border[:, None] * total + channel[None, :], stored, 0)
    else:
        bias = tl.load(bias_ptr + channel, valid_n, 0)[None, :]
    if ROUNDING == 4:
        acc = reals(acc, bias, m // image_pixels, valid_m, channel, valid_n, shift_ptr, scale_ptr)
        acc += tl.load(scale_ptr + total + channel, valid_n, 0)[None, :]
    else:
        acc += bias
    if QUANTIZED and ROUNDING != 4:
        acc = requantize(
            acc, channel, valid_n, scale_ptr, shift_ptr, zero, low, high,
            ROUNDING, WIDE, not SATURATE, INTERPRETED,
        )  # fmt: skip
        if SATURATE:
            acc = saturate(acc, 0 if y_ptr.dtype.element_ty == tl.uint8 else -128, INTERPRETED)
            acc = acc.to(y_ptr.dtype.element_ty, bitcast=True)
        if RESIDUAL != "":
            r = tl.load(residual_ptr + place, stored, 0).to(tl.int32)
            acc = add_q8(acc, r, addition_ptr, RESIDUAL)
    else:
        acc = clamp_float(acc, low, high)
        if RESIDUAL != "":
            acc += tl.load(residual_ptr + place, stored, 0).to(tl.float32)
            acc = clamp_float(acc, tl.load(addition_ptr), tl.load(addition_ptr + 1))
    tl.store(y_ptr + place, acc.to(y_ptr.dtype.element_ty), stored)


@triton.jit
def conv(
    x_ptr, w_ptr, y_ptr, bias_ptr, scale_ptr, shift_ptr, class_ptr, residual_ptr, addition_ptr,
    flat_ptr, pixels, columns, depth, x_stride, y_stride, w_stride, tap_stride, steps,
    in_height, in_width, out_height, out_width, stride_h, stride_w,
    dilation_h, dilation_w, pad_top, pad_left, zero, low, high,
    TAPS_H: tl.constexpr, TAPS_W: tl.constexpr, SETS: tl.constexpr, FLAT: tl.constexpr,
    POINTWISE: tl.constexpr, INSIDE: tl.constexpr, SPLIT: tl.constexpr, EVEN_K: tl.constexpr,
    X_UNIT: tl.constexpr, Y_UNIT: tl.constexpr, W_UNIT: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
    QUANTIZED: tl.constexpr, FLIP: tl.constexpr, BORDER: tl.constexpr, ROUNDING: tl.constexpr,
    WIDE: tl.constexpr, SATURATE: tl.constexpr, RESIDUAL: tl.constexpr, PRECISION: tl.constexpr,
    INTERPRETED: tl.constexpr,
):  # fmt: skip
    """y [pixels, columns] of each group (program axis 1).

    w is [groups * columns, SETS * TAPS * tap_stride] with rows of w_stride elements. depth and x_stride are
    in units of X_UNIT elements, columns and y_stride of Y_UNIT, w_stride and tap_stride of W_UNIT, so that
    the compiler knows what divides them. With FLAT (for a small depth) taps and depth are walked as one
    axis: flat_ptr [2, w_stride] has for each of its elements where it lies, in elements from the window's
    first one, and the bits of `beyond` that it must not have. INSIDE says that no window leaves the image,
    EVEN_K that BK divides the depth.
    A program takes `steps` steps of BK: with SPLIT it stores its sums [program axis 2, pixels, groups *
    columns] into y as they are, for conv_sum.
    FLIP reads x as uint8 and subtracts 128.
    """
    TAPS: tl.constexpr = TAPS_H * TAPS_W
    depth, x_stride = depth * X_UNIT, x_stride * X_UNIT
    columns, y_stride = columns * Y_UNIT, y_stride * Y_UNIT
    w_stride, tap_stride = w_stride * W_UNIT, tap_stride * W_UNIT
    group = tl.program_id(1)
    tiles_n = tl.cdiv(columns, BN)
    m = tl.program_id(0) // tiles_n * BM + tl.arange(0, BM)
    n = tl.program_id(0) % tiles_n * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    # Rows and columns beyond the last are computed like it, and not stored.
    row = tl.minimum(m, pixels - 1)
    w_rows = w_ptr + (group * columns + tl.minimum(n, columns - 1))[None, :] * w_stride
    x_ptr += group * depth
    if not POINTWISE:
        ox, oy = row % out_width, (row // out_width) % out_height
        top, left = oy * stride_h - pad_top, ox * stride_w - pad_left
        image = row // (out_width * out_height)
        row = (image * in_height + top) * in_width + left
    a_rows = x_ptr + row[:, None] * x_stride
    acc = tl.zeros((BM, BN), tl.int32 if QUANTIZED else tl.float32)
    outside: tl.constexpr = 128 if FLIP else 0
    first = tl.program_id(2) * steps
    if FLAT:
        # Bits of the filter's rows, then of its columns, that are outside; one bit for what is no tap.
        beyond = tl.full((BM,), 1 << (TAPS_H + TAPS_W), tl.int32)
        for y in tl.static_range(TAPS_H):
            iy = top + y * dilation_h
            beyond |= tl.where((iy >= 0) & (iy < in_height), 0, 1 << y)
        for x in tl.static_range(TAPS_W):
            ix = left + x * dilation_w
            beyond |= tl.where((ix >= 0) & (ix < in_width), 0, 1 << (TAPS_H + x))
        for i in range(first, tl.minimum(first + steps, tl.cdiv(w_stride, BK))):
            at = i * BK + k
            known = at < w_stride
            offsets = tl.load(flat_ptr + at, known, 0)
            needed = tl.load(flat_ptr + w_stride + at, known, -1)
            a = tl.load(a_rows + offsets[None, :], (beyond[:, None] & needed[None, :]) == 0, outside)
            w = tl.load(w_rows + at[:, None], known[:, None], 0)
            acc = multiply_add(a, w, acc, QUANTIZED, FLIP, PRECISION, INTERPRETED)
    else:
        tap_steps = tl.cdiv(depth, BK)
        tap, start = first // tap_steps, first % tap_steps * BK
        for _ in range(first, tl.minimum(first + steps, SETS * TAPS * tap_steps)):
            c = start + k
            known = c < depth
            pointers, ok = a_rows + c[None, :], known[None, :]
            if not POINTWISE:
                dy, dx = tap % TAPS // TAPS_W * dilation_h, tap % TAPS_W * dilation_w
                pointers += (dy * in_width + dx) * x_stride
                if not INSIDE:
                    iy, ix = top + dy, left + dx
                    seen = ((iy >= 0) & (iy < in_height) & (ix >= 0) & (ix < in_width))[:, None]
                    ok = seen if EVEN_K else seen & ok
            w_pointers = w_rows + (tap * tap_stride + c)[:, None]
            a = tl.load(pointers) if INSIDE and EVEN_K else tl.load(pointers, ok, outside)
            w = tl.load(w_pointers) if EVEN_K else tl.load(w_pointers, known[:, None], 0)
            acc = multiply_add(a, w, acc, QUANTIZED, FLIP, PRECISION, INTERPRETED)
            start += BK
            is_last = start >= depth
            tap += tl.where(is_last, 1, 0)
            start = tl.where(is_last, 0, start)
    total = tl.num_programs(1) * columns
    channel, valid_n = group * columns + n, n < columns
    stored = (m < pixels)[:, None] & valid_n[None, :]
    if SPLIT:
        place = (tl.program_id(2) * pixels + m)[:, None] * total + channel[None, :]
        tl.store(y_ptr + place, acc, stored)
    else:
        finish(
            acc, m, m < pixels, channel, valid_n, stored, total, y_stride, y_ptr, bias_ptr, scale_ptr,
            shift_ptr, class_ptr, residual_ptr, addition_ptr, out_height * out_width, zero, low, high,
            QUANTIZED, BORDER, ROUNDING, WIDE, SATURATE, RESIDUAL, INTERPRETED,
        )  # fmt: skip


@triton.jit
def conv_sum(
    x_ptr, y_ptr, bias_ptr, scale_ptr, shift_ptr, class_ptr, residual_ptr, addition_ptr,
    pixels, columns, y_stride, splits, image_pixels, zero, low, high,
    Y_UNIT: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
    QUANTIZED: tl.constexpr, BORDER: tl.constexpr, ROUNDING: tl.constexpr, WIDE: tl.constexpr,
    SATURATE: tl.constexpr, RESIDUAL: tl.constexpr, INTERPRETED: tl.constexpr,
):  # fmt: skip
    """y [pixels, columns] from partial sums x [splits, pixels, columns], added in their order."""
    columns, y_stride = columns * Y_UNIT, y_stride * Y_UNIT
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    valid_n = n < columns
    stored = (m < pixels)[:, None] & valid_n[None, :]
    acc = tl.zeros((BM, BN), tl.int32 if QUANTIZED else tl.float32)
    for split in range(splits):
        place = (split * pixels + m)[:, None] * columns + n[None, :]
        acc += tl.load(x_ptr + place, stored, 0)
    finish(
        acc, m, m < pixels, n, valid_n, stored, columns, y_stride, y_ptr, bias_ptr, scale_ptr, shift_ptr,
        class_ptr, residual_ptr, addition_ptr, image_pixels, zero, low, high,
        QUANTIZED, BORDER, ROUNDING, WIDE, SATURATE, RESIDUAL, INTERPRETED,
    )  # fmt: skip
