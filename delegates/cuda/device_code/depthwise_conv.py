"""Depthwise convolution of floats, NHWC."""

import triton
import triton.language as tl

from .requantize import clamp_float


@triton.jit
def depthwise(
    x_ptr,
    w_ptr,
    y_ptr,
    bias_ptr,
    rows_ptr,
    in_height,
    in_width,
    in_depth,
    out_height,
    out_width,
    out_depth,
    stride_w,
    dilation_h,
    dilation_w,
    pad_top,
    pad_left,
    low,
    high,
    KH: tl.constexpr,
    KW: tl.constexpr,
    STRIDE_H: tl.constexpr,
    MULTIPLIER: tl.constexpr,
    ROWS: tl.constexpr,
    BW: tl.constexpr,
    BC: tl.constexpr,
    KEEP: tl.constexpr,
    HYBRID: tl.constexpr,
):
    """A program computes ROWS output rows of BW columns and BC channels.

    Each row of x is read once for all of its output rows, which takes a dilation_h of 1 unless ROWS is 1.
    KEEP has the filter in registers. HYBRID is of integers that hybrid.quantize_rows has made of images:
    rows_ptr says how, and bias_ptr has the channels' scales before their biases.
    """
    blocks = tl.cdiv(out_depth, BC)
    c = tl.program_id(0) % blocks * BC + tl.arange(0, BC)
    ox = tl.program_id(0) // blocks * BW + tl.arange(0, BW)
    oy = tl.program_id(1) * ROWS
    image = tl.program_id(2)
    valid_c = c < out_depth
    # By the columns of the filter, where a row of x is read; and all of the filter, where it is small.
    places, inside, taps = (), (), ()
    for kx in tl.static_range(KW):
        ix = ox * stride_w - pad_left + kx * dilation_w
        places += (ix[:, None] * in_depth + (c // MULTIPLIER)[None, :],)
        inside += (((ix >= 0) & (ix < in_width))[:, None] & valid_c[None, :],)
    for tap in tl.static_range(KH * KW if KEEP else 0):
        taps += (tl.load(w_ptr + tap * out_depth + c, valid_c, 0).to(tl.float32)[None, :],)
    acc = ()
    for _ in tl.static_range(ROWS):
        acc += (tl.zeros((BW, BC), tl.float32),)
    for j in tl.static_range((ROWS - 1) * STRIDE_H + KH):
        iy = oy * STRIDE_H - pad_top + j * dilation_h
        x_row = x_ptr + (image * in_height + iy) * in_width * in_depth
        line = iy + tl.zeros((1, 1), tl.int32)  # the interpreter has no masks of numbers alone
        is_row = (line >= 0) & (line < in_height)
        for kx in tl.static_range(KW):
            x = tl.load(x_row + places[kx], inside[kx] & is_row, 0).to(tl.float32)
            sums = ()
            for r in tl.static_range(ROWS):
                if j - r * STRIDE_H >= 0 and j - r * STRIDE_H < KH:
                    if KEEP:
                        w = taps[(j - r * STRIDE_H) * KW + kx]
                    else:
                        at = ((j - r * STRIDE_H) * KW + kx) * out_depth + c
                        w = tl.load(w_ptr + at, valid_c, 0).to(tl.float32)[None, :]
                    sums += (acc[r] + x * w,)
                else:
                    sums += (acc[r],)
            acc = sums
    if HYBRID:
        scale = tl.load(bias_ptr + c, valid_c, 0)[None, :]
        image_scale = tl.load(rows_ptr + 2 * image + 1).to(tl.float32, bitcast=True)
        bias_ptr += out_depth
    bias = tl.load(bias_ptr + c, valid_c, 0)[None, :]
    for r in tl.static_range(ROWS):
        y = acc[r]
        if HYBRID:
            y = y * scale * image_scale
        y = clamp_float(y + bias, low, high)
        row = (image * out_height + oy + r) * out_width + ox
        stored = ((ox < out_width) & (oy + r + tl.zeros((BW,), tl.int32) < out_height))[:, None]
        stored = stored & valid_c[None, :]
        tl.store(y_ptr + row[:, None] * out_depth + c[None, :], y.to(y_ptr.dtype.element_ty), stored)
