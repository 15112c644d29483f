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
):
    """A program computes ROWS output rows of BW columns and BC channels.

    Each row of x is read once for all of its output rows, which takes a dilation_h of 1 unless ROWS is 1.
    """
    blocks = tl.cdiv(out_depth, BC)
    c = tl.program_id(0) % blocks * BC + tl.arange(0, BC)
    ox = tl.program_id(0) // blocks * BW + tl.arange(0, BW)
    oy = tl.program_id(1) * ROWS + tl.zeros((BW,), tl.int32)
    image = tl.program_id(2)
    valid_c = c < out_depth
    acc = ()
    for _ in tl.static_range(ROWS):
        acc += (tl.zeros((BW, BC), tl.float32),)
    for j in tl.static_range((ROWS - 1) * STRIDE_H + KH):
        iy = oy * STRIDE_H - pad_top + j * dilation_h
        for kx in tl.static_range(KW):
            ix = ox * stride_w - pad_left + kx * dilation_w
            ok = (ix >= 0) & (ix < in_width) & (iy >= 0) & (iy < in_height)
            place = ((image * in_height + iy) * in_width + ix)[:, None] * in_depth + (c // MULTIPLIER)[
                None, :
            ]
            x = tl.load(x_ptr + place, ok[:, None] & valid_c[None, :], 0).to(tl.float32)
            sums = ()
            for r in tl.static_range(ROWS):
                if j - r * STRIDE_H >= 0 and j - r * STRIDE_H < KH:
                    w = tl.load(w_ptr + ((j - r * STRIDE_H) * KW + kx) * out_depth + c, valid_c, 0)
                    sums += (acc[r] + x * w.to(tl.float32)[None, :],)
                else:
                    sums += (acc[r],)
            acc = sums
    bias = tl.load(bias_ptr + c, valid_c, 0)[None, :]
    for r in tl.static_range(ROWS):
        y = clamp_float(acc[r] + bias, low, high)
        row = (image * out_height + oy + r) * out_width + ox
        stored = ((ox < out_width) & (oy + r < out_height))[:, None] & valid_c[None, :]
        tl.store(y_ptr + row[:, None] * out_depth + c[None, :], y.to(y_ptr.dtype.element_ty), stored)
