"""CONCATENATION of uint8 tensors whose scale is not the output's."""

import numpy as np

from ..concatenation import RESCALED_ROWS
from .driver.kernel_source import KernelSources
from .language.elements import read_u8, write_u8

kernels = KernelSources()


@kernels.add(RESCALED_ROWS)
def rescaled_rows_u8(a, chunk, chunks):
    size = a.row_bytes
    total = a.rows * size
    at = total * chunk // chunks
    end = total * (chunk + 1) // chunks
    scale, bias, zero_point = a.scale, a.bias, np.int32(a.zero_point)
    row, column = at // size, at % size
    while at < end:
        count = min(size - column, end - at)
        x, y = a.source + at, a.target + a.target_offset + row * a.target_stride + column
        for i in range(count):
            real = np.float32(np.float32(read_u8(x, i)) * scale) + bias
            # Half away from zero: what is left of the whole part tells exactly.
            whole = np.int32(real)
            rest = real - np.float32(whole)
            rounded = np.int32(whole + np.int32(rest >= np.float32(0.5)) - np.int32(rest <= np.float32(-0.5)))
            shifted = np.int32(rounded + zero_point)
            write_u8(y, i, np.uint8(min(max(shifted, np.int32(0)), np.int32(255))))
        at += count
        row += 1
        column = 0
    return 0
