"""Operators that move elements: strided copies, transposes, borders and blocks of images."""

import triton
import triton.language as tl

from .broadcast import tile


@triton.jit
def _start(row, n1, n2, n3, n4, s0, s1, s2, s3, s4, RANK: tl.constexpr):
    """Where a row of loops [.., n1, .., n4] of RANK, without the innermost one, starts."""
    if RANK == 1:
        return row * 0
    elif RANK == 2:
        return row * s4
    at = row % n4 * s4
    row = row // n4
    if RANK == 3:
        return at + row * s3
    at += row % n3 * s3
    row = row // n3
    if RANK == 4:
        return at + row * s2
    at += row % n2 * s2
    row = row // n2
    if RANK == 5:
        return at + row * s1
    return at + row % n1 * s1 + row // n1 * s0


@triton.jit
def copy(
    x_ptr, y_ptr, rows, columns, x_start, y_start, n1, n2, n3, n4,
    x0, x1, x2, x3, x4, x5, y0, y1, y2, y3, y4, y5,
    DENSE: tl.constexpr, RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Loops [.., n1, .., n4, columns] of RANK from x's strides to y's; the innermost are 1 where DENSE."""
    row, column, ok = tile(rows, columns, ROWS, COLUMNS)
    x_at = x_start + _start(row, n1, n2, n3, n4, x0, x1, x2, x3, x4, RANK)
    y_at = y_start + _start(row, n1, n2, n3, n4, y0, y1, y2, y3, y4, RANK)
    if DENSE:
        x_at, y_at = x_at + column, y_at + column
    else:
        x_at, y_at = x_at + column * x5, y_at + column * y5
    tl.store(y_ptr + y_at, tl.load(x_ptr + x_at, ok, 0), ok)


@triton.jit
def transpose(
    x_ptr, y_ptr, rows, columns, x_start, y_start, n1, n2, n3, n4,
    x0, x1, x2, x3, x5, y0, y1, y2, y3, y4,
    RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Loops [.., n1, n2, n3, n4, columns] of RANK, where x is dense along n4 and y along the columns.

    A tile is ROWS of n4 by COLUMNS; rows counts those outside.
    """
    down, across = tl.cdiv(n4, ROWS), tl.cdiv(columns, COLUMNS)
    program = tl.program_id(0)
    column = (program % across * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    program = program // across
    row = (program % down * ROWS + tl.arange(0, ROWS))[:, None]
    outer = program // down
    x_at = x_start + _start(outer, 1, n1, n2, n3, 0, x0, x1, x2, x3, RANK - 1) + row + column * x5
    y_at = y_start + _start(outer, 1, n1, n2, n3, 0, y0, y1, y2, y3, RANK - 1) + row * y4 + column
    ok = (row < n4) & (column < columns)
    tl.store(y_ptr + y_at, tl.load(x_ptr + x_at, ok, 0), ok)


@triton.jit
def pad(
    x_ptr, y_ptr, value_ptr, rows, columns, left, middle, n1, n2, m0, m1, m2, b0, b1, b2, x0, x1, x2,
    RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """y [.., n1, n2, columns] is x [m0, m1, m2, middle] from index (b0, b1, b2, left) on, else the value."""
    row, column, ok = tile(rows, columns, ROWS, COLUMNS)
    inside = ok & (column >= left) & (column < left + middle)
    at = column - left
    if RANK > 1:
        k = row % n2 - b2
        rest = row // n2
        inside = inside & (k >= 0) & (k < m2)
        at += k * x2
        if RANK > 2:
            k = rest % n1 - b1
            rest = rest // n1
            inside = inside & (k >= 0) & (k < m1) & (rest >= b0) & (rest < b0 + m0)
            at += k * x1 + (rest - b0) * x0
    value = tl.load(value_ptr)
    tl.store(y_ptr + row * columns + column, tl.where(inside, tl.load(x_ptr + at, inside, 0), value), ok)


@triton.jit
def mirror_pad(
    x_ptr, y_ptr, table_ptr, rows, columns, column_offsets, DENSE: tl.constexpr, RANK: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """The table has, of each loop around the columns, its size and where its offsets start, then those."""
    row, column, ok = tile(rows, columns, ROWS, COLUMNS)
    at = column + row * 0
    if not DENSE:
        at = tl.load(table_ptr + column_offsets + column, ok, 0)
    rest = row
    for k in tl.static_range(RANK):
        size = tl.load(table_ptr + 2 * (RANK - 1 - k))
        first = tl.load(table_ptr + 2 * (RANK - 1 - k) + 1)
        at += tl.load(table_ptr + first + rest % size)
        rest = rest // size
    tl.store(y_ptr + row * columns + column, tl.load(x_ptr + at, ok, 0), ok)


@triton.jit
def space_to_batch(
    x_ptr, y_ptr, value_ptr, rows, columns, batch, height, width, small_height, small_width,
    block_height, block_width, top, left, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """A row is a pixel of y; those beyond x have the value."""
    pixel, column, ok = tile(rows, columns, ROWS, COLUMNS)
    image = pixel // (small_width * small_height)
    place = image // batch
    row = pixel // small_width % small_height * block_height + place // block_width - top
    x = pixel % small_width * block_width + place % block_width - left
    inside = ok & (row >= 0) & (row < height) & (x >= 0) & (x < width)
    at = ((image % batch * height + row) * width + x) * columns + column
    value = tl.load(value_ptr)
    tl.store(y_ptr + pixel * columns + column, tl.where(inside, tl.load(x_ptr + at, inside, 0), value), ok)


@triton.jit
def batch_to_space(
    x_ptr, y_ptr, rows, columns, batch, height, width, small_height, small_width,
    block_height, block_width, top, left, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """A row is a pixel of y."""
    pixel, column, ok = tile(rows, columns, ROWS, COLUMNS)
    x = pixel % width + left
    row = pixel // width % height + top
    image = (row % block_height * block_width + x % block_width) * batch + pixel // (width * height)
    at = ((image * small_height + row // block_height) * small_width + x // block_width) * columns + column
    tl.store(y_ptr + pixel * columns + column, tl.load(x_ptr + at, ok, 0), ok)


@triton.jit
def fill(y_ptr, value_ptr, size, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + i, tl.load(value_ptr), i < size)


@triton.jit
def one_hot(index_ptr, on_ptr, off_ptr, y_ptr, size, depth, inner, BLOCK: tl.constexpr):
    """y [outer, depth, inner]; of wide indices the low 32 bits count."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    place = i // (depth * inner) * inner + i % inner
    index = tl.load(index_ptr + place, ok, 0).to(tl.int32)
    y = tl.where(index == i // inner % depth, tl.load(on_ptr), tl.load(off_ptr))
    tl.store(y_ptr + i, y, ok)


@triton.jit
def rescale(x_ptr, y_ptr, size, row_size, y_start, y_stride, scale, bias, zero_point, BLOCK: tl.constexpr):
    """Rows of uint8 with another scale, half away from zero."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < size
    x = tl.load(x_ptr + i, ok, 0).to(tl.float32)
    real = (x.to(tl.float64) * scale).to(tl.float32) + bias
    magnitude = tl.abs(real)
    whole = tl.floor(magnitude)
    whole = (whole + tl.where(magnitude - whole >= 0.5, 1.0, 0.0)).to(tl.int32)
    y = tl.where(real < 0, -whole, whole) + zero_point
    y = tl.minimum(tl.maximum(y, 0), 255)
    tl.store(y_ptr + y_start + i // row_size * y_stride + i % row_size, y.to(tl.uint8), ok)


@triton.jit
def widen(
    x_ptr, y_ptr, pixels, in_height, in_width, height, width, pad_top, pad_left,
    DEPTH: tl.constexpr, CHANNELS: tl.constexpr, OUTSIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Images of few channels, stored with their border and more channels.

    y [pixels, CHANNELS], images of height x width, is x [.., in_height, in_width, DEPTH], else OUTSIDE.
    """
    pixel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.arange(0, CHANNELS)[None, :]
    row, column = pixel // width, pixel % width - pad_left
    image, row = row // height, row % height - pad_top
    inside = (row >= 0) & (row < in_height) & (column >= 0) & (column < in_width) & (pixel < pixels)
    at = ((image * in_height + row) * in_width + column) * DEPTH
    value = tl.load(x_ptr + at[:, None] + c, inside[:, None] & (c < DEPTH), OUTSIDE)
    tl.store(y_ptr + pixel[:, None] * CHANNELS + c, value, (pixel < pixels)[:, None] & (c < CHANNELS))
