"""SOFTMAX and LOG_SOFTMAX of float32 rows."""

import math

import numpy as np

from ..softmax import SOFTMAX_F32
from .driver.kernel_source import KernelSources
from .language.elements import read_back_f32, read_f32, write_f32
from .row_f32 import exponentials_row_f32, max_row_f32

kernels = KernelSources()


@kernels.add(SOFTMAX_F32)
def softmax_f32(a, chunk, chunks):
    depth = a.depth
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        x, y = a.x + row * depth * 4, a.y + row * depth * 4
        share = np.float32(1) / exponentials_row_f32(x, y, depth, max_row_f32(x, depth), a.beta)
        for c in range(depth):
            write_f32(y, c, read_back_f32(y, c) * share)
    return 0


@kernels.add(SOFTMAX_F32)
def log_softmax_f32(a, chunk, chunks):
    depth = a.depth
    scratch = a.scratch + chunk * depth * 4
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        x, y = a.x + row * depth * 4, a.y + row * depth * 4
        largest = max_row_f32(x, depth)
        log_sum = np.float32(math.log(exponentials_row_f32(x, scratch, depth, largest, np.float32(1))))
        for c in range(depth):
            write_f32(y, c, (read_f32(x, c) - largest) - log_sum)
    return 0
