"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR, by tables of positions and weights."""

import triton
import triton.language as tl

from .broadcast import tile
from .mathematics import exact_product


@triton.jit
def nearest(
    x_ptr, y_ptr, row_ptr, column_ptr, rows, columns, in_height, in_width, out_height, out_width,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    output, c, ok = tile(rows, columns, ROWS, COLUMNS)
    exists = output < rows
    column = tl.load(column_ptr + output % out_width, exists, 0)
    line = output // out_width
    row = tl.load(row_ptr + line % out_height, exists, 0)
    at = ((line // out_height * in_height + row) * in_width + column) * columns + c
    tl.store(y_ptr + output * columns + c, tl.load(x_ptr + at, ok, 0), ok)


@triton.jit
def _between(a, b, weight, EXACT: tl.constexpr):
    """EXACT is in integers, with weights in 1/2048."""
    if EXACT:
        return (a << 11) + (b - a) * weight
    else:
        return a + (b - a) * weight


@triton.jit
def _share(value, v, h):
    """value * v * h, each product rounded."""
    return exact_product(exact_product(value, v), h)


@triton.jit
def bilinear(
    x_ptr, y_ptr, top_ptr, bottom_ptr, row_weight_ptr, left_ptr, right_ptr, column_weight_ptr,
    rows, columns, in_height, in_row, out_height, out_width,
    RULE: tl.constexpr, EVEN: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """left and right count elements, multiples of 16 where EVEN.

    RULE is how kernels/compiled/resize.py weighs the four pixels: float and eleven_bits blend along W,
    then along H; reference sums four products of float32, and integer of weights in 1/1024.
    """
    output, c, ok = tile(rows, columns, ROWS, COLUMNS)
    exists = output < rows
    column = output % out_width
    pixel = output // out_width
    row = pixel % out_height
    image = x_ptr + pixel // out_height * in_height * in_row + c
    top = image + tl.load(top_ptr + row, exists, 0) * in_row
    bottom = image + tl.load(bottom_ptr + row, exists, 0) * in_row
    left = tl.load(left_ptr + column, exists, 0)
    right = tl.load(right_ptr + column, exists, 0)
    if EVEN:
        left, right = tl.multiple_of(left, (16, 16)), tl.multiple_of(right, (16, 16))
    v = tl.load(row_weight_ptr + row, exists, 0)
    h = tl.load(column_weight_ptr + column, exists, 0)
    IS_FLOAT: tl.constexpr = RULE == "float" or RULE == "reference" or RULE == "reference_u8"
    WIDE: tl.constexpr = tl.float32 if IS_FLOAT else tl.int64 if RULE == "integer" else tl.int32
    corner = tl.load(top + left, ok, 0).to(WIDE)
    tr = tl.load(top + right, ok, 0).to(WIDE)
    bl = tl.load(bottom + left, ok, 0).to(WIDE)
    br = tl.load(bottom + right, ok, 0).to(WIDE)
    if RULE == "float":
        y = _between(_between(corner, tr, h, False), _between(bl, br, h, False), v, False)
    elif RULE == "eleven_bits":
        y = _between(_between(corner, tr, h, True), _between(bl, br, h, True), v, True)
        y = (y + 2097152) >> 22
    elif RULE == "integer":
        v = v.to(tl.int64)
        h = h.to(tl.int64)
        y = corner * (1024 - v) * (1024 - h) + bl * v * (1024 - h) + tr * (1024 - v) * h + br * v * h
        magnitude = (tl.abs(y) + 524288) >> 20
        y = tl.where(y > 0, magnitude, -magnitude)
    else:
        upper = 1.0 - v
        first = 1.0 - h
        y = _share(corner, upper, first) + _share(bl, v, first) + _share(tr, upper, h) + _share(br, v, h)
        if RULE == "reference_u8":
            y = (y + 0.5).to(tl.int32)
    tl.store(y_ptr + output * columns + c, y.to(y_ptr.dtype.element_ty), ok)
