"""Products of pairs of matrices, int16 by int16 or int8, in the reference's arithmetic."""

import numpy as np
from numba import carray, njit

from ..contraction.blocks import BATCH_MATMUL_PLAIN
from .driver.kernel_source import KernelSources
from .language.memory import int8_pointer, int16_pointer, int32_pointer, int64_pointer
from .requantize import multiply_wide_by_quantized_multiplier

kernels = KernelSources()


def make_kernel(w_pointer, w_bytes):
    @njit(error_model="numpy")
    def dot(x, w, depth):
        total = np.int64(0)
        for k in range(depth):
            total += np.int64(np.int32(x[k]) * np.int32(w[k]))
        return total

    def batch_matmul(a, chunk, chunks):
        x_index = carray(int64_pointer(a.x_index), a.batches)
        w_index = carray(int64_pointer(a.w_index), a.batches)
        multipliers = carray(int32_pointer(a.multipliers), a.columns)
        shifts = carray(int32_pointer(a.shifts), a.columns)
        total_rows = a.batches * a.rows
        for i in range(total_rows * chunk // chunks, total_rows * (chunk + 1) // chunks):
            batch = i // a.rows
            x = int16_pointer(a.x + (x_index[batch] * a.rows + i - batch * a.rows) * a.depth * 2)
            y = carray(int16_pointer(a.y + i * a.columns * 2), a.columns)
            for n in range(a.columns):
                w = w_pointer(a.w + (w_index[batch] * a.columns + n) * a.depth * w_bytes)
                scaled = multiply_wide_by_quantized_multiplier(dot(x, w, a.depth), multipliers[n], shifts[n])
                y[n] = np.int16(min(max(np.int64(scaled), -32768), 32767))
        return 0

    return batch_matmul


kernels.add(BATCH_MATMUL_PLAIN, "batch_matmul_i16")(make_kernel(int16_pointer, 2))
kernels.add(BATCH_MATMUL_PLAIN, "batch_matmul_i16_i8")(make_kernel(int8_pointer, 1))
