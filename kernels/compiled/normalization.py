"""L2_NORMALIZATION and LOCAL_RESPONSE_NORMALIZATION, row by row."""

import numpy as np

from ..normalization import L2_NORMALIZATION, LOCAL_RESPONSE
from .driver.kernel_source import KernelSources
from .fixed_point import inverse_square_root
from .language.elements import read_f32, read_i8, read_u8, write_f32, write_i8, write_u8
from .language.scalar_math import pow_f32
from .requantize import multiply_by_quantized_multiplier

kernels = KernelSources()

_ZERO = np.float32(0)
_LEAST_NORM = np.float32(1e-6)
_MOST = (1 << 31) - 1


@kernels.add(L2_NORMALIZATION)
def l2_normalization_f32(a, chunk, chunks):
    x, y, depth = a.x, a.y, a.depth
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        at = row * depth
        squares = _ZERO
        for c in range(at, at + depth):
            squares += read_f32(x, c) * read_f32(x, c)
        norm = np.sqrt(squares)
        norm = _LEAST_NORM if norm < _LEAST_NORM else norm
        for c in range(at, at + depth):
            write_f32(y, c, read_f32(x, c) / norm)
    return 0


def _l2_kernel(read, write, width, zero, low, high, factor, bits):
    """Results have 7 bits after the point: offsets times `factor`, shifted left by `bits`."""

    def kernel(a, chunk, chunks):
        x, y, depth, x_zero = a.x, a.y, a.depth, np.int64(a.x_zero)
        for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
            at = row * depth
            squares = np.int64(0)
            for c in range(at, at + depth):
                offset = np.int64(read(x, c)) - x_zero
                squares += offset * offset
            multiplier, shift = inverse_square_root(min(squares, _MOST))
            for c in range(at, at + depth):
                offset = factor * (np.int64(read(x, c)) - x_zero)
                scaled = np.int64(multiply_by_quantized_multiplier(offset, multiplier, shift + bits)) + zero
                write(y, c, width(min(max(scaled, low), high)))
        return 0

    return kernel


# The types differ in where their products are rounded.
kernels.add(L2_NORMALIZATION, "l2_normalization_i8")(
    _l2_kernel(read_i8, write_i8, np.int8, 0, -128, 127, 1, 7)
)
kernels.add(L2_NORMALIZATION, "l2_normalization_u8")(
    _l2_kernel(read_u8, write_u8, np.uint8, 128, 0, 255, 128, 0)
)


@kernels.add(LOCAL_RESPONSE)
def local_response_f32(a, chunk, chunks):
    x, y, depth = a.x, a.y, a.depth
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        at = row * depth
        for c in range(depth):
            squares = _ZERO
            for k in range(max(0, c - a.before), min(depth, c + a.after + 1)):
                squares += read_f32(x, at + k) * read_f32(x, at + k)
            factor = pow_f32(np.float32(a.bias + a.alpha * squares), np.float32(-a.beta))
            write_f32(y, at + c, read_f32(x, at + c) * factor)
    return 0
