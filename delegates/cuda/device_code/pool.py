"""Pooling: one element of the output is a window of the input's channel."""

import triton
import triton.language as tl

from .requantize import clamp


@triton.jit
def pool(
    x_ptr, y_ptr, size, in_height, in_width, depth, out_height, out_width,
    filter_height, filter_width, stride_h, stride_w, pad_top, pad_left, low, high, start,
    KIND: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """KIND is max, average, l2, integer_max or integer_average; start is what the largest starts from.

    Averages of integers round half away from zero, an odd count's half rounded down first.
    """
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    c = i % depth
    pixel = i // depth
    left = pixel % out_width * stride_w - pad_left
    pixel = pixel // out_width
    top = pixel % out_height * stride_h - pad_top
    image = pixel // out_height * in_height
    IS_FLOAT: tl.constexpr = KIND == "max" or KIND == "average" or KIND == "l2"
    IS_MAX: tl.constexpr = KIND == "max" or KIND == "integer_max"
    total = tl.zeros((BLOCK,), tl.float32 if IS_FLOAT else tl.int32)
    if IS_MAX:
        total += start
    for row in range(filter_height):
        y = top + row
        row_ok = ok & (y >= 0) & (y < in_height)
        for column in range(filter_width):
            x = left + column
            inside = row_ok & (x >= 0) & (x < in_width)
            at = ((image + y) * in_width + x) * depth + c
            if IS_MAX:
                value = tl.load(x_ptr + at, inside, 0).to(total.dtype)
                total = tl.where(inside & (value > total), value, total)
            else:
                value = tl.load(x_ptr + at, inside, 0).to(total.dtype)
                if KIND == "l2":
                    value = value * value
                total += value
    rows = tl.minimum(top + filter_height, in_height) - tl.maximum(top, 0)
    columns = tl.minimum(left + filter_width, in_width) - tl.maximum(left, 0)
    count = tl.maximum(tl.maximum(rows, 0) * tl.maximum(columns, 0), 1)
    if IS_FLOAT:
        if not IS_MAX:
            total = total / count.to(tl.float32)
        if KIND == "l2":
            total = tl.sqrt_rn(total)
    elif not IS_MAX:
        magnitude = (tl.abs(total) + count // 2) // count
        total = tl.where(total < 0, -magnitude, magnitude)
    tl.store(y_ptr + i, clamp(total, low, high).to(y_ptr.dtype.element_ty), ok)
