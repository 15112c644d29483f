"""Strided copies by element size, contiguous runs, and transposition in tiles."""

from numba import njit

from ..strided_copy import LAST, STRIDED_COPY
from .family import KernelFamily
from .memory import uint8_pointer, uint16_pointer, uint32_pointer, uint64_pointer
from .run_copy import copy_rows
from .tile_transpose import (
    LINE_TILES,
    TILE_BYTES,
    WIDE_GROUPS,
    few_columns,
    line_band,
    narrow_band,
    thin_band,
    wide_line_band,
)

kernels = KernelFamily()

LINE_BLOCK = 1024  # rows of a plane of few columns that make a band


@njit(inline="always")
def outer_offset(index, sizes, strides, axes):
    """Byte offset of the index-th position of the first `axes` axes, counted row by row."""
    offset = 0
    for axis in range(axes - 1, -1, -1):
        if sizes[axis] > 1:
            offset += index % sizes[axis] * strides[axis]
            index //= sizes[axis]
    return offset


@kernels.add(STRIDED_COPY)
def copy_runs(a, chunk, chunks):
    rows = a.sizes[LAST - 1]
    total = rows
    for axis in range(LAST - 1):
        total *= a.sizes[axis]
    row = total * chunk // chunks
    end = total * (chunk + 1) // chunks
    while row < end:
        outer, first = row // rows, row % rows
        last = min(rows, first + end - row)
        source = a.source + a.source_offset + outer_offset(outer, a.sizes, a.source_strides, LAST - 1)
        target = a.target + a.target_offset + outer_offset(outer, a.sizes, a.target_strides, LAST - 1)
        for i in range(first, last):
            from_row = source + i * a.source_strides[LAST - 1]
            to_row = target + i * a.target_strides[LAST - 1]
            copy_rows(
                to_row, a.target_strides[LAST], from_row, a.source_strides[LAST], a.sizes[LAST], a.run_bytes
            )
        row += last - first
    return 0


def element_copy(pointer, item_bytes):
    """A kernel that copies single elements, each from its own place to its own place."""

    def copy_elements(a, chunk, chunks):
        rows = a.sizes[LAST - 1]
        source_step = a.source_strides[LAST] // item_bytes
        target_step = a.target_strides[LAST] // item_bytes
        total = rows
        for axis in range(LAST - 1):
            total *= a.sizes[axis]
        row = total * chunk // chunks
        end = total * (chunk + 1) // chunks
        while row < end:
            outer, first = row // rows, row % rows
            last = min(rows, first + end - row)
            source = a.source + a.source_offset + outer_offset(outer, a.sizes, a.source_strides, LAST - 1)
            target = a.target + a.target_offset + outer_offset(outer, a.sizes, a.target_strides, LAST - 1)
            for i in range(first, last):
                x = pointer(source + i * a.source_strides[LAST - 1])
                y = pointer(target + i * a.target_strides[LAST - 1])
                for k in range(a.sizes[LAST]):
                    y[k * target_step] = x[k * source_step]
            row += last - first
        return 0

    return copy_elements


def transposition(copy_elements, pointer, item_bytes):
    """A kernel for a source whose fastest axis is the target's last but one.

    Bands of one cache line (or one tile) of that axis are turned at a time; the last band
    overlaps the one before it.
    """
    copy_elements = njit(copy_elements, error_model="numpy")
    narrow, line, wide = narrow_band[item_bytes], line_band[item_bytes], wide_line_band[item_bytes]
    thin, few = thin_band[item_bytes], few_columns[item_bytes]
    n = TILE_BYTES // item_bytes
    line_rows = n * LINE_TILES
    wide_columns = n * WIDE_GROUPS

    @njit(error_model="numpy")
    def turn_few_columns(a, source, target, first, last):
        """Rows first to last - 1 of a dense plane of few columns."""
        columns, stride = a.sizes[LAST], a.source_strides[LAST]
        # Tiles spill over at most one tile's width, which the last rows hold.
        spill = (n + columns - 1) // columns
        whole = max(last - first - spill, 0) // n * n
        few(source + first * item_bytes, stride, target + first * columns * item_bytes, columns, whole)
        for row in range(first + whole, last):
            y = pointer(target + row * columns * item_bytes)
            for column in range(columns):
                y[column] = pointer(source + row * item_bytes + column * stride)[0]

    @njit(error_model="numpy")
    def turn_band(a, source, target, row, height):
        columns = a.sizes[LAST]
        source_stride, target_stride = a.source_strides[LAST], a.target_strides[LAST - 1]
        source += row * item_bytes
        target += row * target_stride
        if height < n:
            thin(source, source_stride, target, target_stride, columns, height)
        elif height == n:
            narrow(source, source_stride, target, target_stride, columns)
        elif columns >= wide_columns:
            wide(source, source_stride, target, target_stride, columns)
        else:
            line(source, source_stride, target, target_stride, columns)

    def transpose(a, chunk, chunks):
        rows, columns = a.sizes[LAST - 1], a.sizes[LAST]
        spread = columns < n
        if spread and (rows < n or a.target_strides[LAST - 1] != columns * item_bytes):
            return copy_elements(a, chunk, chunks)
        height = LINE_BLOCK if spread else line_rows if rows >= line_rows else min(rows, n)
        bands = (rows + height - 1) // height
        total = bands
        for axis in range(LAST - 1):
            total *= a.sizes[axis]
        for band in range(total * chunk // chunks, total * (chunk + 1) // chunks):
            outer, row = band // bands, band % bands * height
            source = a.source + a.source_offset + outer_offset(outer, a.sizes, a.source_strides, LAST - 1)
            target = a.target + a.target_offset + outer_offset(outer, a.sizes, a.target_strides, LAST - 1)
            if spread:
                turn_few_columns(a, source, target, row, min(row + height, rows))
            else:
                turn_band(a, source, target, min(row, rows - height), height)
        return 0

    return transpose


for _item_bytes, _pointer in (
    (1, uint8_pointer),
    (2, uint16_pointer),
    (4, uint32_pointer),
    (8, uint64_pointer),
):
    _copy = element_copy(_pointer, _item_bytes)
    kernels.add(STRIDED_COPY, f"copy_{_item_bytes}")(_copy)
    kernels.add(STRIDED_COPY, f"transpose_{_item_bytes}")(transposition(_copy, _pointer, _item_bytes))
