"""Strided copies of single elements and of contiguous runs, and the copy of bytes as they are."""

from numba import njit

from ..reshape import FLAT_COPY
from ..strided_copy import LAST, STRIDED_COPY
from .driver.kernel_source import KernelSources
from .language.memory import uint8_pointer, uint16_pointer, uint32_pointer, uint64_pointer
from .row_moves import every_second, reversed_row
from .run_copy import copy_rows, copy_run

kernels = KernelSources()


@njit(error_model="numpy")
def outer_offset(index, sizes, strides, axes):
    """Byte offset of the index-th position of the first `axes` axes, counted row by row."""
    offset = 0
    for axis in range(axes - 1, -1, -1):
        if sizes[axis] > 1:
            offset += index % sizes[axis] * strides[axis]
            index //= sizes[axis]
    return offset


def _row_copy(pointer, item_bytes):
    """A function that copies `count` elements between rows; steps are in bytes."""
    copy_reversed, copy_every_second = reversed_row[item_bytes], every_second[item_bytes]

    @njit(error_model="numpy")
    def copy_row(target, target_step, source, source_step, count):
        if target_step == item_bytes and source_step == -item_bytes:
            copy_reversed(target, source, count)
        elif target_step == item_bytes and source_step == 2 * item_bytes:
            copy_every_second(target, source, count)
        else:
            x, y = pointer(source), pointer(target)
            x_step, y_step = source_step // item_bytes, target_step // item_bytes
            for k in range(count):
                y[k * y_step] = x[k * x_step]

    return copy_row


# Rows shorter than this are copied across: as many rows as there are by each of their elements.
_SHORT = 8


def rows_kernel(copy):
    """A kernel that has copy(a, target, source, rows) copy rows that follow each other on their axis."""

    def copy_all(a, chunk, chunks):
        rows = a.sizes[LAST - 1]
        total = rows
        for axis in range(LAST - 1):
            total *= a.sizes[axis]
        row = total * chunk // chunks
        end = total * (chunk + 1) // chunks
        while row < end:
            outer, first = row // rows, row % rows
            count = min(rows - first, end - row)
            source = a.source + a.source_offset + outer_offset(outer, a.sizes, a.source_strides, LAST - 1)
            target = a.target + a.target_offset + outer_offset(outer, a.sizes, a.target_strides, LAST - 1)
            source += first * a.source_strides[LAST - 1]
            target += first * a.target_strides[LAST - 1]
            copy(a, target, source, count)
            row += count
        return 0

    return copy_all


def element_copy(pointer, item_bytes):
    """A kernel that copies single elements, each from its own place to its own place."""
    copy_row = _row_copy(pointer, item_bytes)

    @njit(error_model="numpy")
    def copy_elements(a, target, source, rows):
        count = a.sizes[LAST]
        source_step, source_row = a.source_strides[LAST], a.source_strides[LAST - 1]
        target_step, target_row = a.target_strides[LAST], a.target_strides[LAST - 1]
        if count < _SHORT and count < rows:
            for k in range(count):
                copy_row(target + k * target_step, target_row, source + k * source_step, source_row, rows)
        else:
            for i in range(rows):
                copy_row(target + i * target_row, target_step, source + i * source_row, source_step, count)

    return rows_kernel(copy_elements)


@njit(error_model="numpy")
def run_rows(a, target, source, rows):
    for i in range(rows):
        from_row = source + i * a.source_strides[LAST - 1]
        to_row = target + i * a.target_strides[LAST - 1]
        copy_rows(
            to_row, a.target_strides[LAST], from_row, a.source_strides[LAST], a.sizes[LAST], a.run_bytes
        )


for _bytes, _pointer in ((1, uint8_pointer), (2, uint16_pointer), (4, uint32_pointer), (8, uint64_pointer)):
    kernels.add(STRIDED_COPY, f"copy_{_bytes}")(element_copy(_pointer, _bytes))


kernels.add(STRIDED_COPY, "copy_runs")(rows_kernel(run_rows))


@kernels.add(FLAT_COPY)
def flat_copy(a, chunk, chunks):
    if a.source != a.target:
        start = a.nbytes * chunk // chunks
        copy_run(a.target + start, a.source + start, a.nbytes * (chunk + 1) // chunks - start)
    return 0
