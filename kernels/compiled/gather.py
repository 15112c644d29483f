"""GATHER, by runs of bytes; every position is checked before it is used."""

import numpy as np

from ..gather import GATHER_ARGS, OUT_OF_RANGE
from .family import KernelFamily
from .memory import int16_pointer, int32_pointer, int64_pointer
from .run_copy import copy_run

kernels = KernelFamily()


@kernels.add(GATHER_ARGS)
def gather(a, chunk, chunks):
    size, axis_size = a.slice_bytes, a.axis_size
    total = a.batch * a.outer * a.count
    row, end = total * chunk // chunks, total * (chunk + 1) // chunks
    while row < end:
        block, first = row // a.count, row % a.count
        last = min(a.count, first + end - row)
        place = block // a.outer * a.count
        x, y = a.x + block * axis_size * size, a.y + block * a.count * size
        for i in range(first, last):
            if a.position_bytes == 4:
                position = np.int64(int32_pointer(a.positions)[place + i])
            elif a.position_bytes == 8:
                position = int64_pointer(a.positions)[place + i]
            else:
                position = np.int64(int16_pointer(a.positions)[place + i])
            if position < 0 or position >= axis_size:
                return OUT_OF_RANGE
            copy_run(y + i * size, x + position * size, size)
        row += last - first
    return 0
