"""Rows quantized on the fly times int8 columns, in the reference's arithmetic."""

import numpy as np
from numba import carray, njit

from ..contraction.blocks import BATCH_MATMUL_PLAIN_HYBRID, ROW_QUANTIZATION
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, int8_pointer, int64_pointer, record_pointer, uint8_pointer

kernels = KernelSources()
_quantization_at = record_pointer(ROW_QUANTIZATION)


@njit(error_model="numpy")
def dot(x, w, depth):
    """Sum of products, x being bytes 128 above what they stand for."""
    total = np.int32(0)
    for k in range(depth):
        total += np.int32((np.int32(x[k]) - np.int32(128)) * np.int32(w[k]))
    return np.int32(total)


@njit(error_model="numpy")
def run_sum(w, count):
    total = np.int32(0)
    for k in range(count):
        total += np.int32(w[k])
    return np.float32(total)


@kernels.add(BATCH_MATMUL_PLAIN_HYBRID)
def batch_matmul_plain_hybrid(a, chunk, chunks):
    x_index = carray(int64_pointer(a.x_index), a.batches)
    w_index = carray(int64_pointer(a.w_index), a.batches)
    first_row = carray(int64_pointer(a.quantization_index), a.batches)
    total_rows = a.batches * a.rows
    at, end = total_rows * chunk // chunks, total_rows * (chunk + 1) // chunks
    while at < end:
        batch = at // a.rows
        row = at - batch * a.rows
        count = min(a.rows - row, end - at)
        x = a.x + (x_index[batch] * a.rows + row) * a.x_stride
        y = carray(float32_pointer(a.y + at * a.columns * 4), (count, a.columns))
        quantization = carray(_quantization_at(a.quantization + (first_row[batch] + row) * 8), count)
        scales = carray(float32_pointer(a.scales + w_index[batch] * a.columns * 4), a.columns)
        for n in range(a.columns):
            w = int8_pointer(a.w + (w_index[batch] * a.columns + n) * a.depth)
            weights = run_sum(w, a.depth)
            for m in range(count):
                zero_point = np.float32(np.int32(quantization[m].zero_point - 128))
                total = np.float32(dot(uint8_pointer(x + m * a.x_stride), w, a.depth))
                # In float32, as the reference has it: it matters above 2**24.
                centred = np.int32(total - weights * zero_point)
                y[m, n] = (quantization[m].scale * scales[n]) * np.float32(centred)
        at += count
    return 0
