"""Pooling: one element of the output is a window of the input's channel."""

import triton
import triton.language as tl

from .broadcast import tile
from .requantize import clamp


@triton.jit
def pool(
    x_ptr, y_ptr, rows, columns, in_height, in_width, out_height, out_width,
    filter_height, filter_width, stride_h, stride_w, pad_top, pad_left, low, high, smallest,
    KIND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """KIND is max, average, l2, integer_max or integer_average; smallest is what the largest starts from.

    Averages of integers round half away from zero, an odd count's half rounded down first.
    """
    output, c, ok = tile(rows, columns, ROWS, COLUMNS)
    pixel = output
    left = pixel % out_width * stride_w - pad_left
    pixel = pixel // out_width
    top = pixel % out_height * stride_h - pad_top
    image = pixel // out_height * in_height
    IS_FLOAT: tl.constexpr = KIND == "max" or KIND == "average" or KIND == "l2"
    IS_MAX: tl.constexpr = KIND == "max" or KIND == "integer_max"
    total = tl.zeros((ROWS, COLUMNS), tl.float32 if IS_FLOAT else tl.int32)
    if IS_MAX:
        total += smallest
    first_row = tl.maximum(top, 0)
    first_column = tl.maximum(left, 0)
    taps_down = tl.maximum(tl.minimum(top + filter_height, in_height) - first_row, 0)
    taps_across = tl.maximum(tl.minimum(left + filter_width, in_width) - first_column, 0)
    for row in range(tl.minimum(filter_height, in_height)):
        start = (image + first_row + row) * in_width + first_column
        for column in range(tl.minimum(filter_width, in_width)):
            inside = ok & (row < taps_down) & (column < taps_across)
            value = tl.load(x_ptr + (start + column) * columns + c, inside, 0).to(total.dtype)
            if IS_MAX:
                total = tl.where(inside & (value > total), value, total)
            elif KIND == "l2":
                total += value * value
            else:
                total += value
    count = tl.maximum(taps_down * taps_across, 1)
    if IS_FLOAT:
        if not IS_MAX:
            total = total / count.to(tl.float32)
        if KIND == "l2":
            total = tl.sqrt_rn(total)
    elif not IS_MAX:
        magnitude = (tl.abs(total) + count // 2) // count
        total = tl.where(total < 0, -magnitude, magnitude)
    tl.store(y_ptr + output * columns + c, clamp(total, low, high).to(y_ptr.dtype.element_ty), ok)
