"""Products of pairs of matrices in the reference's arithmetic: int8, int16, and rows quantized on the fly."""

import numpy as np
from numba import carray, njit

from ..contraction.blocks import BATCH_MATMUL_PLAIN, BATCH_MATMUL_PLAIN_HYBRID, ROW_QUANTIZATION
from .driver.kernel_source import KernelSources
from .language.memory import (
    float32_pointer,
    int8_pointer,
    int16_pointer,
    int32_pointer,
    int64_pointer,
    record_pointer,
    uint8_pointer,
)
from .requantize import multiply_wide_by_quantized_multiplier, requantize_double_rounding

kernels = KernelSources()
_quantization_at = record_pointer(ROW_QUANTIZATION)


def pairs_kernel(x_type, w_type, dot, finish):
    """finish(a, i, n, total) for each element i of y, in column n; types are pointers and bytes.

    total is dot(x, w, depth, x_zero_point, w_zero_point).
    """
    x_pointer, x_bytes = x_type
    w_pointer, w_bytes = w_type

    def kernel(a, chunk, chunks):
        x_index = carray(int64_pointer(a.x_index), a.batches)
        w_index = carray(int64_pointer(a.w_index), a.batches)
        x_zero_point, w_zero_point = np.int32(a.x_zero_point), np.int32(a.w_zero_point)
        rows, depth = a.batches * a.rows, a.depth
        for i in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
            batch = i // a.rows
            x = x_pointer(a.x + (x_index[batch] * a.rows + i - batch * a.rows) * depth * x_bytes)
            for n in range(a.columns):
                w = w_pointer(a.w + (w_index[batch] * a.columns + n) * depth * w_bytes)
                finish(a, i * a.columns + n, n, dot(x, w, depth, x_zero_point, w_zero_point))
        return 0

    return kernel


@njit(error_model="numpy")
def dot_i32(x, w, depth, x_zero_point, w_zero_point):
    """Zero points taken off, in int32."""
    total = np.int32(0)
    for k in range(depth):
        total += np.int32((np.int32(x[k]) - x_zero_point) * (np.int32(w[k]) - w_zero_point))
    return np.int32(total)


@njit(error_model="numpy")
def dot_as_stored(x, w, depth, x_zero_point, w_zero_point):
    return dot_i32(x, w, depth, np.int32(0), np.int32(0))


@njit(error_model="numpy")
def dot_i64(x, w, depth, x_zero_point, w_zero_point):
    total = np.int64(0)
    for k in range(depth):
        total += np.int64(np.int32(x[k]) * np.int32(w[k]))
    return total


@njit(error_model="numpy")
def to_i8(a, i, n, total):
    multiplier, shift = int32_pointer(a.multipliers)[n], int32_pointer(a.shifts)[n]
    stored = requantize_double_rounding(total, multiplier, shift, a.y_zero_point, -128, 127)
    int8_pointer(a.y)[i] = np.int8(stored)


@njit(error_model="numpy")
def to_i32(a, i, n, total):
    int32_pointer(a.y)[i] = total


@njit(error_model="numpy")
def to_i16(a, i, n, total):
    multiplier, shift = int32_pointer(a.multipliers)[n], int32_pointer(a.shifts)[n]
    scaled = np.int64(multiply_wide_by_quantized_multiplier(total, multiplier, shift))
    int16_pointer(a.y)[i] = np.int16(min(max(scaled, -32768), 32767))


_I8, _I16 = (int8_pointer, 1), (int16_pointer, 2)
for _name, _parts in (
    ("batch_matmul_i8", (_I8, _I8, dot_i32, to_i8)),
    ("batch_matmul_i8_i32", (_I8, _I8, dot_as_stored, to_i32)),
    ("batch_matmul_i16", (_I16, _I16, dot_i64, to_i16)),
    ("batch_matmul_i16_i8", (_I16, _I8, dot_i64, to_i16)),
):
    kernels.add(BATCH_MATMUL_PLAIN, _name)(pairs_kernel(*_parts))


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
