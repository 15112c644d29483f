"""Elementwise unary operators over flat arrays."""

import math

from numba import carray

from ..elementwise import UNARY
from .family import KernelFamily
from .memory import float32_pointer

kernels = KernelFamily()


@kernels.add(UNARY)
def sin_f32(a, chunk, chunks):
    x = carray(float32_pointer(a.x), a.size)
    y = carray(float32_pointer(a.y), a.size)
    for i in range(a.size * chunk // chunks, a.size * (chunk + 1) // chunks):
        y[i] = math.sin(x[i])
    return 0
