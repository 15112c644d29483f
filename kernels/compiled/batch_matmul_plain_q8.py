"""int8 products of pairs of matrices, in the reference's arithmetic."""

import numpy as np
from numba import carray, njit

from ..contraction.blocks import BATCH_MATMUL_PLAIN
from .driver.kernel_source import KernelSources
from .language.memory import int8_pointer, int32_pointer, int64_pointer
from .requantize import requantize_double_rounding

kernels = KernelSources()


@njit(error_model="numpy")
def dot(x, w, depth, x_zero_point, w_zero_point):
    """Sum of the products of two runs, zero points taken off, in int32."""
    total = np.int32(0)
    for k in range(depth):
        total += np.int32((np.int32(x[k]) - x_zero_point) * (np.int32(w[k]) - w_zero_point))
    return np.int32(total)


@kernels.add(BATCH_MATMUL_PLAIN)
def batch_matmul_i8(a, chunk, chunks):
    x_index = carray(int64_pointer(a.x_index), a.batches)
    w_index = carray(int64_pointer(a.w_index), a.batches)
    multipliers = carray(int32_pointer(a.multipliers), a.columns)
    shifts = carray(int32_pointer(a.shifts), a.columns)
    x_zero_point, w_zero_point = np.int32(a.x_zero_point), np.int32(a.w_zero_point)
    total_rows = a.batches * a.rows
    for i in range(total_rows * chunk // chunks, total_rows * (chunk + 1) // chunks):
        batch = i // a.rows
        x = int8_pointer(a.x + (x_index[batch] * a.rows + i - batch * a.rows) * a.depth)
        y = carray(int8_pointer(a.y + i * a.columns), a.columns)
        for n in range(a.columns):
            w = int8_pointer(a.w + (w_index[batch] * a.columns + n) * a.depth)
            total = dot(x, w, a.depth, x_zero_point, w_zero_point)
            y[n] = np.int8(
                requantize_double_rounding(total, multipliers[n], shifts[n], a.y_zero_point, -128, 127)
            )
    return 0


@kernels.add(BATCH_MATMUL_PLAIN)
def batch_matmul_i8_i32(a, chunk, chunks):
    x_index = carray(int64_pointer(a.x_index), a.batches)
    w_index = carray(int64_pointer(a.w_index), a.batches)
    total_rows = a.batches * a.rows
    for i in range(total_rows * chunk // chunks, total_rows * (chunk + 1) // chunks):
        batch = i // a.rows
        x = int8_pointer(a.x + (x_index[batch] * a.rows + i - batch * a.rows) * a.depth)
        y = carray(int32_pointer(a.y + i * a.columns * 4), a.columns)
        for n in range(a.columns):
            w = int8_pointer(a.w + (w_index[batch] * a.columns + n) * a.depth)
            y[n] = dot(x, w, a.depth, np.int32(0), np.int32(0))
    return 0
