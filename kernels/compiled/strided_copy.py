"""Strided copies by element size, contiguous runs, and transposition in tiles."""

from numba import njit

from ..strided_copy import LAST, STRIDED_COPY
from .family import KernelFamily
from .memory import uint8_pointer, uint16_pointer, uint32_pointer, uint64_pointer
from .run_copy import copy_run
from .tile_transpose import LINE_TILES, TILE_BYTES, line_band, narrow_band

kernels = KernelFamily()


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
            for k in range(a.sizes[LAST]):
                copy_run(
                    to_row + k * a.target_strides[LAST], from_row + k * a.source_strides[LAST], a.run_bytes
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


def transposition(copy_elements, item_bytes):
    """A kernel for a source whose fastest axis is the target's last but one.

    Bands of one cache line (or one vector) of the source's axis are turned at a time; the
    last band overlaps the one before it. Planes smaller than a tile go element by element.
    """
    copy_elements = njit(copy_elements, error_model="numpy")
    narrow, line = narrow_band[item_bytes], line_band[item_bytes]
    n = TILE_BYTES // item_bytes
    line_rows = n * LINE_TILES

    def transpose(a, chunk, chunks):
        rows, columns = a.sizes[LAST - 1], a.sizes[LAST]
        if rows < n or columns < n:
            return copy_elements(a, chunk, chunks)
        height = line_rows if rows >= line_rows else n
        bands = (rows + height - 1) // height
        total = bands
        for axis in range(LAST - 1):
            total *= a.sizes[axis]
        source_stride, target_stride = a.source_strides[LAST], a.target_strides[LAST - 1]
        for band in range(total * chunk // chunks, total * (chunk + 1) // chunks):
            outer = band // bands
            row = min(band % bands * height, rows - height)
            source = a.source + a.source_offset + outer_offset(outer, a.sizes, a.source_strides, LAST - 1)
            target = a.target + a.target_offset + outer_offset(outer, a.sizes, a.target_strides, LAST - 1)
            source += row * item_bytes
            target += row * target_stride
            if height == n:
                narrow(source, source_stride, target, target_stride, columns)
            else:
                line(source, source_stride, target, target_stride, columns)
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
    kernels.add(STRIDED_COPY, f"transpose_{_item_bytes}")(transposition(_copy, _item_bytes))
