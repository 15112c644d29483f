"""Strided copies of single elements and of contiguous runs."""

from ..strided_copy import LAST, STRIDED_COPY
from .driver.kernel_source import KernelSources
from .language.memory import uint8_pointer, uint16_pointer, uint32_pointer, uint64_pointer
from .run_copy import copy_rows
from .strided_loop import element_copy, outer_offset

kernels = KernelSources()

for _bytes, _pointer in ((1, uint8_pointer), (2, uint16_pointer), (4, uint32_pointer), (8, uint64_pointer)):
    kernels.add(STRIDED_COPY, f"copy_{_bytes}")(element_copy(_pointer, _bytes))


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
