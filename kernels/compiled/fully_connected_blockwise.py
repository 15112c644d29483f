"""Rows quantized on the fly times int8 weights with a scale for each block."""

import numpy as np
from numba import carray, njit

from ..fully_connected_blockwise import BLOCKWISE
from ..hybrid import ROW_QUANTIZATION
from .family import KernelFamily
from .memory import float32_pointer, int8_pointer, record_pointer, uint8_pointer

kernels = KernelFamily()
_quantization_at = record_pointer(ROW_QUANTIZATION)


@njit(error_model="numpy")
def dot(x, w, start, stop):
    total = np.int32(0)
    for k in range(start, stop):
        total += np.int32(np.int32(x[k]) * np.int32(w[k]))
    return np.float32(np.int32(total))


@kernels.add(BLOCKWISE)
def fully_connected_blockwise(a, chunk, chunks):
    blocks = a.depth // a.block_size
    quantization = carray(_quantization_at(a.quantization), a.rows)
    scales = carray(float32_pointer(a.scales), (a.columns, blocks))
    weight_sums = carray(float32_pointer(a.weight_sums), a.columns)
    y = carray(float32_pointer(a.y), (a.rows, a.columns))
    for n in range(a.columns * chunk // chunks, a.columns * (chunk + 1) // chunks):
        w = int8_pointer(a.w + n * a.depth)
        for m in range(a.rows):
            x = uint8_pointer(a.x + m * a.x_stride)
            total = np.float32(0)
            for block in range(blocks):
                start = block * a.block_size
                total += dot(x, w, start, start + a.block_size) * scales[n, block]
            total -= np.float32(quantization[m].zero_point) * weight_sums[n]
            total *= quantization[m].scale
            if a.bias != 0:
                total += float32_pointer(a.bias)[n]
            y[m, n] = min(max(total, a.low), a.high)
    return 0
