"""One phase of a transposed convolution: a convolution whose taps a table finds."""

import triton
import triton.language as tl

from .requantize import clamp, requantize


@triton.jit
def transpose_conv(
    x_ptr, w_ptr, y_ptr, bias_ptr, scale_ptr, shift_ptr, table_ptr,
    rows, pixels, taps, columns, depth, image_size, w_stride,
    width, y_start, y_image, y_row, y_column, outside, zero, low, high,
    SETS: tl.constexpr, QUANTIZED: tl.constexpr, FLIP: tl.constexpr,
    ROUNDING: tl.constexpr, PRECISION: tl.constexpr, WIDEN: tl.constexpr,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """rows are all images' pixels of the phase; table [pixels, taps] has elements of an image, or -1.

    Taps outside read `outside`. w is [columns, SETS * taps * depth]. FLIP reads x as uint8 and subtracts
    128. WIDEN is for the interpreter, which has no bfloat16 dot.
    """
    tiles_n = tl.cdiv(columns, BN)
    m = tl.program_id(0) // tiles_n * BM + tl.arange(0, BM)
    n = tl.program_id(0) % tiles_n * BN + tl.arange(0, BN)
    image = m // pixels
    pixel = m % pixels
    valid_m = m < rows
    valid_n = n < columns
    acc = tl.zeros((BM, BN), tl.int32 if QUANTIZED else tl.float32)
    steps = tl.cdiv(depth, BK)
    for i in range(0, SETS * taps * steps):
        tap = i // steps
        c = i % steps * BK + tl.arange(0, BK)
        known = c < depth
        at = tl.load(table_ptr + pixel * taps + tap % taps, valid_m, -1)
        inside = (at >= 0)[:, None] & known[None, :]
        start = image * image_size + at
        a = tl.load(x_ptr + start[:, None] + c[None, :], inside, 0)
        a = tl.where(inside, a, outside.to(a.dtype))
        w = tl.load(
            w_ptr + n[None, :] * w_stride + (tap * depth + c)[:, None], valid_n[None, :] & known[:, None], 0
        )
        if FLIP:
            a = (a ^ 0x80).to(tl.int8, bitcast=True)
        if WIDEN:
            acc += tl.dot(a.to(tl.float32), w.to(tl.float32), input_precision="ieee")
        elif QUANTIZED:
            acc = tl.dot(a, w, acc, out_dtype=tl.int32)
        else:
            acc = tl.dot(a.to(w.dtype), w, acc, input_precision=PRECISION)
    acc += tl.load(bias_ptr + n, valid_n, 0)[None, :]
    if QUANTIZED:
        acc = requantize(acc, n, valid_n, scale_ptr, shift_ptr, zero, low, high, ROUNDING, True)
    else:
        acc = clamp(acc, low, high)
    place = y_start + image * y_image + pixel // width * y_row + pixel % width * y_column
    stored = valid_m[:, None] & valid_n[None, :]
    tl.store(y_ptr + place[:, None] + n[None, :], acc.to(y_ptr.dtype.element_ty), stored)
