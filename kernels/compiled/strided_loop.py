"""Loops over the axes of a strided copy, and copies of single elements."""

from numba import njit

from ..strided_copy import LAST


@njit(error_model="numpy")
def outer_offset(index, sizes, strides, axes):
    """Byte offset of the index-th position of the first `axes` axes, counted row by row."""
    offset = 0
    for axis in range(axes - 1, -1, -1):
        if sizes[axis] > 1:
            offset += index % sizes[axis] * strides[axis]
            index //= sizes[axis]
    return offset


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
