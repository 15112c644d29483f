"""Transposition, by item size: each size is a family of its own, as a model seldom needs two."""

from numba import njit

from ..strided_copy import LAST, STRIDED_COPY
from .driver.kernel_source import KernelSources
from .language.memory import uint8_pointer, uint16_pointer, uint32_pointer, uint64_pointer
from .strided_copy import element_copy, outer_offset
from .tile_transpose import LINE_TILES, TILE_BYTES, WIDE_GROUPS, bands

kernels = KernelSources()

FEW_COLUMNS_ROWS = 1024  # rows of a plane of few columns that make a band


def transposition(pointer, item_bytes):
    """A kernel for a source whose fastest axis is the target's last but one.

    Bands of one cache line (or one tile) of that axis are turned at a time; the last band
    overlaps the one before it.
    """
    copy_elements = njit(error_model="numpy")(element_copy(pointer, item_bytes))
    narrow, line, wide, thin, few = bands(item_bytes)
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
        height = FEW_COLUMNS_ROWS if spread else line_rows if rows >= line_rows else min(rows, n)
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


for _bytes, _pointer in ((1, uint8_pointer), (2, uint16_pointer), (4, uint32_pointer), (8, uint64_pointer)):
    kernels.add(STRIDED_COPY, f"transpose_{_bytes}")(transposition(_pointer, _bytes))
