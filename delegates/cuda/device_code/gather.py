"""Rows at positions that come from data; what is out of range is reported, and not read."""

import triton
import triton.language as tl

from .broadcast import tile
from .status import report_any


@triton.jit
def _position(position_ptr, row, rows, outer, count):
    """Of rows [batch, outer, count], positions being [batch, count]."""
    return tl.load(position_ptr + row // count // outer * count + row % count, row < rows, 0)


@triton.jit
def gather(
    x_ptr, position_ptr, y_ptr, rows, columns, outer, count, axis_size,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """y [batch, outer, count, columns] is x [batch, outer, positions, columns], all in range."""
    row, column, ok = tile(rows, columns, ROWS, COLUMNS)
    position = _position(position_ptr, row, rows, outer, count).to(tl.int32)
    at = (row // count * axis_size + position) * columns + column
    tl.store(y_ptr + row * columns + column, tl.load(x_ptr + at, ok, 0), ok)


@triton.jit
def checked_gather(
    x_ptr, position_ptr, y_ptr, rows, columns, outer, count, axis_size, status_ptr, report,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row, column, ok = tile(rows, columns, ROWS, COLUMNS)
    position = _position(position_ptr, row, rows, outer, count)
    bad = (position < 0) | (position >= axis_size)
    report_any(status_ptr, report, bad & (row < rows))
    at = (row // count * axis_size + tl.where(bad, 0, position).to(tl.int32)) * columns + column
    tl.store(y_ptr + row * columns + column, tl.load(x_ptr + at, ok & (bad == 0), 0), ok)


@triton.jit
def gather_nd(
    x_ptr, index_ptr, y_ptr, axis_ptr, rows, columns, status_ptr, report,
    DEPTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """axis_ptr has the sizes of the axes that the coordinates are of, then their strides."""
    row, column, ok = tile(rows, columns, ROWS, COLUMNS)
    at = column + row * 0
    bad = row < 0
    for k in tl.static_range(DEPTH):
        index = tl.load(index_ptr + row * DEPTH + k, row < rows, 0)
        wrong = (index < 0) | (index >= tl.load(axis_ptr + k))
        bad = bad | wrong
        at += tl.where(wrong, 0, index).to(tl.int32) * tl.load(axis_ptr + DEPTH + k)
    report_any(status_ptr, report, bad & (row < rows))
    tl.store(y_ptr + row * columns + column, tl.load(x_ptr + at, ok & (bad == 0), 0), ok)


@triton.jit
def embedding(
    table_ptr, position_ptr, y_ptr, scale_ptr, rows, columns, table_rows, scale_step,
    status_ptr, report, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Rows of int8 times their scales."""
    row, column, ok = tile(rows, columns, ROWS, COLUMNS)
    position = tl.load(position_ptr + row, row < rows, 0)
    bad = (position < 0) | (position >= table_rows)
    report_any(status_ptr, report, bad & (row < rows))
    position = tl.where(bad, 0, position)
    scale = tl.load(scale_ptr + position * scale_step, (row < rows) & (bad == 0), 0)
    y = tl.load(table_ptr + position * columns + column, ok & (bad == 0), 0).to(tl.float32) * scale
    tl.store(y_ptr + row * columns + column, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def update_slice(
    update_ptr, start_ptr, y_ptr, axis_ptr, rows, columns,
    RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Put the update's rows into y; axis_ptr has the sizes of y's axes around the columns, then the update's.

    Where it starts is moved into y.
    """
    row, column, ok = tile(rows, columns, ROWS, COLUMNS)
    rest = row
    at = row * 0
    step = tl.load(axis_ptr) * 0 + 1
    for k in tl.static_range(RANK):
        size = tl.load(axis_ptr + (RANK - 1 - k))
        box = tl.load(axis_ptr + (2 * RANK - 1 - k))
        first = tl.maximum(tl.minimum(tl.load(start_ptr + (RANK - 1 - k)), size - box), 0).to(tl.int32)
        at += (rest % box + first) * step
        rest = rest // box
        step = step * size
    tl.store(y_ptr + at * columns + column, tl.load(update_ptr + row * columns + column, ok, 0), ok)
