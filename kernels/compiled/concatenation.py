"""CONCATENATION of uint8 tensors whose scale is not the output's."""

from numba import carray

from ..concatenation import RESCALED_ROWS
from .family import KernelFamily
from .memory import uint8_pointer

kernels = KernelFamily()


@kernels.add(RESCALED_ROWS)
def rescaled_rows_u8(a, chunk, chunks):
    total = a.rows * a.row_bytes
    at = total * chunk // chunks
    end = total * (chunk + 1) // chunks
    table = a.table
    while at < end:
        row, column = at // a.row_bytes, at % a.row_bytes
        count = min(a.row_bytes - column, end - at)
        x = carray(uint8_pointer(a.source + at), count)
        y = carray(uint8_pointer(a.target + a.target_offset + row * a.target_stride + column), count)
        for i in range(count):
            y[i] = table[x[i]]
        at += count
    return 0
