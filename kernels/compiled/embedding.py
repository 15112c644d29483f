"""EMBEDDING_LOOKUP of quantized rows, dequantized to float32."""

import numpy as np

from ..embedding import EMBEDDING_ARGS
from ..gather import OUT_OF_RANGE
from .elements import read_f32, read_i8, read_i32, read_u8, write_f32
from .family import KernelFamily

kernels = KernelFamily()


@kernels.add(EMBEDDING_ARGS)
def embedding_lookup(a, chunk, chunks):
    columns = a.columns
    for i in range(a.count * chunk // chunks, a.count * (chunk + 1) // chunks):
        row = int(read_i32(a.positions, i))
        if row < 0 or row >= a.rows:
            return OUT_OF_RANGE
        scale = read_f32(a.scales, row * a.scale_step)
        y = a.y + i * columns * 4
        # Rows of packed elements start at a byte, as the reference has it.
        x = a.table + row * columns * a.bits // 8
        if a.bits == 8:
            for k in range(columns):
                write_f32(y, k, np.float32(np.float32(read_i8(x, k)) * scale))
        elif a.bits == 4:
            for k in range(columns >> 1):
                pair = np.int32(read_u8(x, k))
                write_f32(y, 2 * k, np.float32(np.float32(((pair & 15) ^ 8) - 8) * scale))
                write_f32(y, 2 * k + 1, np.float32(np.float32((pair >> 4 ^ 8) - 8) * scale))
            if columns & 1:
                stored = int(read_u8(x, columns >> 1)) & 15
                write_f32(y, columns - 1, np.float32(np.float32((stored ^ 8) - 8) * scale))
        else:
            for k in range(columns):
                stored = (int(read_u8(x, k >> 2)) >> ((k & 3) * 2)) & 3
                write_f32(y, k, np.float32(np.float32((stored ^ 2) - 2) * scale))
    return 0
