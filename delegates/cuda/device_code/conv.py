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
def multiply_add(a, w, acc, WALK: tl.constexpr):
    """acc + a w. FLIP reads a as uint8 and subtracts 128. The interpreter has no bfloat16 dot."""
    # One return at the end: Triton 3.6 compiles what follows a return in an if, too.
    if WALK.FLIP:
        a = (a ^ 0x80).to(tl.int8, bitcast=True)
    if WALK.INTERPRETED and w.dtype == tl.bfloat16:
        acc += tl.dot(a.to(tl.float32), w.to(tl.float32), input_precision="ieee")
    elif acc.dtype == tl.int32:
        acc = tl.dot(a, w, acc, out_dtype=tl.int32)
    else:
        acc = tl.dot(a.to(w.dtype), w, acc, input_precision=WALK.PRECISION)
    return acc


@triton.jit
def finish(acc, m, valid_m, channel, valid_n, stored, total, y_stride, y_ptr, end, END: tl.constexpr):
    """Store sums of products of pixels m and channels: bias, rounding or clamp, and residual.

    end and END are what packed_product.Ends has: what follows the sums.
    With SATURATE low and high are those of the type, sums are small enough to be rounded before that, and
    there is no residual.
    RESIDUAL is "", "float", "sum" or "reference".
    ROUNDING 4 (HYBRID) is of rows that are images: bias_ptr has sums of weights, shift_ptr how rows are
    quantized and scale_ptr the channels' scales and biases; results are floats.
    """
    place = m[:, None] * y_stride + channel[None, :]
    if END.BORDER:
        border = tl.load(end.class_ptr + m % end.image_pixels)
        bias = tl.load(end.bias_ptr + border[:, None] * total + channel[None, :], stored, 0)
    else:
        bias = tl.load(end.bias_ptr + channel, valid_n, 0)[None, :]
    if END.ROUNDING == 4:
        image = m // end.image_pixels
        acc = reals(acc, bias, image, valid_m, channel, valid_n, end.shift_ptr, end.scale_ptr)
        acc += tl.load(end.scale_ptr + total + channel, valid_n, 0)[None, :]
    else:
        acc += bias
    if END.QUANTIZED and END.ROUNDING != 4:
        acc = requantize(
            acc, channel, valid_n, end.scale_ptr, end.shift_ptr, end.zero, end.low, end.high,
            END.ROUNDING, END.WIDE, not END.SATURATE, END.INTERPRETED,
        )  # fmt: skip
        if END.SATURATE:
            acc = saturate(acc, 0 if y_ptr.dtype.element_ty == tl.uint8 else -128, END.INTERPRETED)
            acc = acc.to(y_ptr.dtype.element_ty, bitcast=True)
        if END.RESIDUAL != "":
            r = tl.load(end.residual_ptr + place, stored, 0).to(tl.int32)
            acc = add_q8(acc, r, end.addition_ptr, END.RESIDUAL)
    else:
        acc = clamp_float(acc, end.low, end.high)
        if END.RESIDUAL != "":
            acc += tl.load(end.residual_ptr + place, stored, 0).to(tl.float32)
            acc = clamp_float(acc, tl.load(end.addition_ptr), tl.load(end.addition_ptr + 1))
    tl.store(y_ptr + place, acc.to(y_ptr.dtype.element_ty), stored)


@triton.jit
def flat_sums(
    acc, a_rows, w_rows, flat_ptr, top, left, w_stride, first, last, window,
    WALK: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """acc and the sums of steps [first, last) over taps and depth as one axis of w_stride elements.

    flat_ptr [2, w_stride] has for each of them where it lies, in elements from the window's first one, and
    the bits of `beyond` that it must not have.
    """
    k = tl.arange(0, BK)
    # Bits of the filter's rows, then of its columns, that are outside; one bit for what is no tap.
    beyond = tl.full((acc.shape[0],), 1 << (WALK.TAPS_H + WALK.TAPS_W), tl.int32)
    for y in tl.static_range(WALK.TAPS_H):
        iy = top + y * window.dilation_h
        beyond |= tl.where((iy >= 0) & (iy < window.in_height), 0, 1 << y)
    for x in tl.static_range(WALK.TAPS_W):
        ix = left + x * window.dilation_w
        beyond |= tl.where((ix >= 0) & (ix < window.in_width), 0, 1 << (WALK.TAPS_H + x))
    for i in range(first, tl.minimum(last, tl.cdiv(w_stride, BK))):
        at = i * BK + k
        known = at < w_stride
        offsets = tl.load(flat_ptr + at, known, 0)
        needed = tl.load(flat_ptr + w_stride + at, known, -1)
        inside = (beyond[:, None] & needed[None, :]) == 0
        a = tl.load(a_rows + offsets[None, :], inside, 128 if WALK.FLIP else 0)
        w = tl.load(w_rows + at[:, None], known[:, None], 0)
        acc = multiply_add(a, w, acc, WALK)
    return acc


@triton.jit
def tap_sums(
    acc, a_rows, w_rows, top, left, depth, x_stride, tap_stride, first, last, window,
    WALK: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """acc and the sums of steps [first, last) over the taps, of which each takes depth / BK steps."""
    k = tl.arange(0, BK)
    TAPS: tl.constexpr = WALK.TAPS_H * WALK.TAPS_W
    outside: tl.constexpr = 128 if WALK.FLIP else 0
    tap_steps = tl.cdiv(depth, BK)
    tap, start = first // tap_steps, first % tap_steps * BK
    for _ in range(first, tl.minimum(last, WALK.SETS * TAPS * tap_steps)):
        c = start + k
        known = c < depth
        pointers, ok = a_rows + c[None, :], known[None, :]
        if not WALK.POINTWISE:
            dy, dx = tap % TAPS // WALK.TAPS_W * window.dilation_h, tap % WALK.TAPS_W * window.dilation_w
            pointers += (dy * window.in_width + dx) * x_stride
            if not WALK.INSIDE:
                iy, ix = top + dy, left + dx
                seen = ((iy >= 0) & (iy < window.in_height) & (ix >= 0) & (ix < window.in_width))[:, None]
                ok = seen if WALK.EVEN_K else seen & ok
        w_pointers = w_rows + (tap * tap_stride + c)[:, None]
        a = tl.load(pointers) if WALK.INSIDE and WALK.EVEN_K else tl.load(pointers, ok, outside)
        w = tl.load(w_pointers) if WALK.EVEN_K else tl.load(w_pointers, known[:, None], 0)
        acc = multiply_add(a, w, acc, WALK)
        start += BK
        is_last = start >= depth
        tap += tl.where(is_last, 1, 0)
        start = tl.where(is_last, 0, start)
    return acc


@triton.jit
def conv(
    x_ptr, w_ptr, y_ptr, flat_ptr, end, sizes, window,
    WALK: tl.constexpr, TILE: tl.constexpr, END: tl.constexpr,
):  # fmt: skip
    """y [pixels, columns] of each group (program axis 1); packed_product.py says what its records hold.

    w is [groups * columns, SETS * TAPS * tap_stride] with rows of w_stride elements. depth and x_stride are
    in units of X_UNIT elements, columns and y_stride of Y_UNIT, w_stride and tap_stride of W_UNIT, so that
    the compiler knows what divides them. With FLAT (for a small depth) taps and depth are walked as one
    axis. INSIDE says that no window leaves the image, EVEN_K that BK divides the depth. FLIP reads x as uint8
    and subtracts 128.
    A program takes `steps` steps of BK: with SPLIT it stores its sums [program axis 2, pixels, groups *
    columns] into y as they are, for conv_sum.
    """
    depth, x_stride = sizes.depth * WALK.X_UNIT, sizes.x_stride * WALK.X_UNIT
    columns, y_stride = sizes.columns * WALK.Y_UNIT, sizes.y_stride * WALK.Y_UNIT
    w_stride, tap_stride = sizes.w_stride * WALK.W_UNIT, sizes.tap_stride * WALK.W_UNIT
    group = tl.program_id(1)
    tiles_n = tl.cdiv(columns, TILE.BN)
    m = tl.program_id(0) // tiles_n * TILE.BM + tl.arange(0, TILE.BM)
    n = tl.program_id(0) % tiles_n * TILE.BN + tl.arange(0, TILE.BN)
    # Rows and columns beyond the last are computed like it, and not stored.
    row = tl.minimum(m, sizes.pixels - 1)
    w_rows = w_ptr + (group * columns + tl.minimum(n, columns - 1))[None, :] * w_stride
    x_ptr += group * depth
    top, left = row, row
    if not WALK.POINTWISE:
        ox, oy = row % window.out_width, (row // window.out_width) % window.out_height
        top, left = oy * window.stride_h - window.pad_top, ox * window.stride_w - window.pad_left
        image = row // (window.out_width * window.out_height)
        row = (image * window.in_height + top) * window.in_width + left
    a_rows = x_ptr + row[:, None] * x_stride
    acc = tl.zeros((TILE.BM, TILE.BN), tl.int32 if END.QUANTIZED else tl.float32)
    first = tl.program_id(2) * sizes.steps
    last = first + sizes.steps
    if WALK.FLAT:
        acc = flat_sums(
            acc, a_rows, w_rows, flat_ptr, top, left, w_stride, first, last, window, WALK, TILE.BK
        )
    else:
        acc = tap_sums(
            acc, a_rows, w_rows, top, left, depth, x_stride, tap_stride, first, last, window, WALK, TILE.BK
        )
    total = tl.num_programs(1) * columns
    channel, valid_n = group * columns + n, n < columns
    stored = (m < sizes.pixels)[:, None] & valid_n[None, :]
    if WALK.SPLIT:
        place = (tl.program_id(2) * sizes.pixels + m)[:, None] * total + channel[None, :]
        tl.store(y_ptr + place, acc, stored)
    else:
        finish(acc, m, m < sizes.pixels, channel, valid_n, stored, total, y_stride, y_ptr, end, END)


@triton.jit
def conv_sum(x_ptr, y_ptr, end, sizes, TILE: tl.constexpr, END: tl.constexpr):
    """y [pixels, columns] from partial sums x [splits, pixels, columns], added in their order."""
    columns, y_stride = sizes.columns * TILE.Y_UNIT, sizes.y_stride * TILE.Y_UNIT
    m = tl.program_id(0) * TILE.BM + tl.arange(0, TILE.BM)
    n = tl.program_id(1) * TILE.BN + tl.arange(0, TILE.BN)
    valid_n = n < columns
    stored = (m < sizes.pixels)[:, None] & valid_n[None, :]
    acc = tl.zeros((TILE.BM, TILE.BN), tl.int32 if END.QUANTIZED else tl.float32)
    for split in range(sizes.splits):
        place = (split * sizes.pixels + m)[:, None] * columns + n[None, :]
        acc += tl.load(x_ptr + place, stored, 0)
    finish(acc, m, m < sizes.pixels, n, valid_n, stored, columns, y_stride, y_ptr, end, END)
