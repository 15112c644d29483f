"""Convolution and matrix product as an implicit matrix product, NHWC, float and 8-bit.

Outside the image everything is 0; the input's zero point is in the bias, which differs by border
class: which rows and columns of the filter see the image.
"""

import triton
import triton.language as tl

from .requantize import clamp, requantize, requantize_one, sum_fixed, to_common_scale


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
def conv(
    x_ptr,
    w_ptr,
    y_ptr,
    bias_ptr,
    scale_ptr,
    shift_ptr,
    row_class_ptr,
    column_class_ptr,
    residual_ptr,
    addition_ptr,
    pixels,
    columns,
    depth,
    x_stride,
    y_stride,
    w_stride,
    tap_stride,
    in_height,
    in_width,
    out_height,
    out_width,
    stride_h,
    stride_w,
    dilation_h,
    dilation_w,
    pad_top,
    pad_left,
    column_classes,
    zero,
    low,
    high,
    TAPS: tl.constexpr,
    TAPS_W: tl.constexpr,
    SETS: tl.constexpr,
    FLAT_DEPTH: tl.constexpr,
    POINTWISE: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    GROUP: tl.constexpr,
    QUANTIZED: tl.constexpr,
    FLIP: tl.constexpr,
    BORDER: tl.constexpr,
    ROUNDING: tl.constexpr,
    WIDE: tl.constexpr,
    RESIDUAL: tl.constexpr,
    PRECISION: tl.constexpr,
    WIDEN: tl.constexpr,
):
    """y [pixels, columns] of each group (program axis 1).

    w is [groups * columns, SETS * TAPS * tap_stride] with rows of w_stride elements. With FLAT_DEPTH (the
    depth, a small one) taps and depth are walked as one axis. FLIP reads x as uint8 and subtracts 128.
    RESIDUAL is "", "float", "sum" or "reference". WIDEN is for the interpreter, which has no bfloat16 dot.
    """
    pid = tl.program_id(0)
    group = tl.program_id(1)
    tiles_m, tiles_n = tl.cdiv(pixels, BM), tl.cdiv(columns, BN)
    first = pid // (GROUP * tiles_n) * GROUP
    rows = tl.minimum(tiles_m - first, GROUP)
    inside = pid % (GROUP * tiles_n)
    m = (first + inside % rows) * BM + tl.arange(0, BM)
    n = inside // rows * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    valid_m, valid_n = m < pixels, n < columns
    channel = group * columns + n
    x_ptr += group * depth
    w_rows = w_ptr + channel[None, :] * w_stride
    if not POINTWISE:
        ox, oy = m % out_width, (m // out_width) % out_height
        image = m // (out_width * out_height)
        top, left = oy * stride_h - pad_top, ox * stride_w - pad_left
        base = (image * in_height + top) * in_width + left
    acc = tl.zeros((BM, BN), tl.int32 if QUANTIZED else tl.float32)
    outside: tl.constexpr = 128 if FLIP else 0
    if FLAT_DEPTH:
        for i in range(0, tl.cdiv(SETS * TAPS * FLAT_DEPTH, BK)):
            at = i * BK + k
            tap, c = at // FLAT_DEPTH, at % FLAT_DEPTH
            known = at < SETS * TAPS * FLAT_DEPTH
            dy, dx = tap % TAPS // TAPS_W * dilation_h, tap % TAPS_W * dilation_w
            iy, ix = top[:, None] + dy[None, :], left[:, None] + dx[None, :]
            ok = (
                (iy >= 0) & (iy < in_height) & (ix >= 0) & (ix < in_width) & valid_m[:, None] & known[None, :]
            )
            offsets = (base[:, None] + (dy * in_width + dx)[None, :]) * x_stride + c[None, :]
            a = tl.load(x_ptr + offsets, ok, outside)
            w = tl.load(w_rows + at[:, None], valid_n[None, :] & known[:, None], 0)
            if FLIP:
                a = (a ^ 0x80).to(tl.int8, bitcast=True)
            if WIDEN:
                acc += tl.dot(a.to(tl.float32), w.to(tl.float32), input_precision="ieee")
            elif QUANTIZED:
                acc = tl.dot(a, w, acc, out_dtype=tl.int32)
            else:
                acc = tl.dot(a, w, acc, input_precision=PRECISION)
    else:
        steps = tl.cdiv(depth, BK)
        for i in range(0, SETS * TAPS * steps):
            tap, c = i // steps, i % steps * BK + k
            known = c < depth
            if POINTWISE:
                ok = valid_m
                pixel = m
            else:
                dy, dx = tap % TAPS // TAPS_W * dilation_h, tap % TAPS_W * dilation_w
                iy, ix = top + dy, left + dx
                ok = valid_m & (iy >= 0) & (iy < in_height) & (ix >= 0) & (ix < in_width)
                pixel = base + dy * in_width + dx
            a = tl.load(x_ptr + pixel[:, None] * x_stride + c[None, :], ok[:, None] & known[None, :], outside)
            w = tl.load(w_rows + (tap * tap_stride + c)[:, None], valid_n[None, :] & known[:, None], 0)
            if FLIP:
                a = (a ^ 0x80).to(tl.int8, bitcast=True)
            if WIDEN:
                acc += tl.dot(a.to(tl.float32), w.to(tl.float32), input_precision="ieee")
            elif QUANTIZED:
                acc = tl.dot(a, w, acc, out_dtype=tl.int32)
            else:
                acc = tl.dot(a, w, acc, input_precision=PRECISION)
    total = tl.num_programs(1) * columns
    stored = valid_m[:, None] & valid_n[None, :]
    place = m[:, None] * y_stride + channel[None, :]
    if BORDER:
        border = tl.load(row_class_ptr + oy, valid_m, 0) * column_classes
        border += tl.load(column_class_ptr + ox, valid_m, 0)
        acc += tl.load(bias_ptr + border[:, None] * total + channel[None, :], stored, 0)
    else:
        acc += tl.load(bias_ptr + channel, valid_n, 0)[None, :]
    if QUANTIZED:
        acc = requantize(acc, channel, valid_n, scale_ptr, shift_ptr, zero, low, high, ROUNDING, WIDE)
        if RESIDUAL != "":
            r = tl.load(residual_ptr + place, stored, 0).to(tl.int32)
            acc = add_q8(acc, r, addition_ptr, RESIDUAL)
    else:
        acc = clamp(acc, low, high)
        if RESIDUAL != "":
            acc += tl.load(residual_ptr + place, stored, 0).to(tl.float32)
            acc = clamp(acc, tl.load(addition_ptr), tl.load(addition_ptr + 1))
    tl.store(y_ptr + place, acc.to(y_ptr.dtype.element_ty), stored)
