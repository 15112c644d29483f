"""CONCATENATION of uint8 tensors whose scale is not the output's."""

import numpy as np

from ..concatenation import RESCALED_ROWS
from .elements import read_u8, write_u8
from .family import KernelFamily

kernels = KernelFamily()


@kernels.add(RESCALED_ROWS)
def rescaled_rows_u8(a, chunk, chunks):
    total = a.rows * a.row_bytes
    at = total * chunk // chunks
    end = total * (chunk + 1) // chunks
    scale, bias, zero_point = a.scale, a.bias, a.zero_point
    while at < end:
        row, column = at // a.row_bytes, at % a.row_bytes
        count = min(a.row_bytes - column, end - at)
        x, y = a.source + at, a.target + a.target_offset + row * a.target_stride + column
        for i in range(count):
            real = np.float32(np.float32(read_u8(x, i)) * scale) + bias
            # Half away from zero: what is left of the whole part tells exactly.
            whole = np.int32(real)
            rest = real - np.float32(whole)
            rounded = whole + np.int32(rest >= np.float32(0.5)) - np.int32(rest <= np.float32(-0.5))
            write_u8(y, i, np.uint8(min(max(rounded + zero_point, 0), 255)))
        at += count
    return 0
