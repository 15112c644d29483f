"""PRELU by type."""

import numpy as np
from numba import njit

from ..prelu import PRELU, PRELU_Q8
from .broadcast import broadcast_kernel
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, read_i8, read_i16, read_u8, write_f32, write_i8, write_i16, write_u8
from .language.simd import Emitter, Value
from .repeated_row import repeated_row, repeated_row_kernel
from .requantize import multiply_by_quantized_multiplier

kernels = KernelSources()

_ZERO = np.float32(0)
_INFINITY = np.float32(np.inf)


@njit(error_model="numpy")
def _nothing(block):
    return 0


@njit(error_model="numpy")
def _prelu(x, slope, p):
    scaled = x * slope
    return x if x >= _ZERO else scaled


@njit(error_model="numpy")
def _scales(a):
    return a.a_zero, a.b_zero, a.zero, a.multiplier, a.shift, a.slope_multiplier, a.slope_shift


def _quantized(width, low, high):
    @njit(error_model="numpy")
    def prelu(x, slope, p):
        a_zero, b_zero, zero, multiplier, shift, slope_multiplier, slope_shift = p
        offset = np.int32(x) - a_zero
        if offset >= 0:
            scaled = multiply_by_quantized_multiplier(offset, multiplier, shift)
        else:
            product = offset * (np.int32(slope) - b_zero)
            scaled = multiply_by_quantized_multiplier(product, slope_multiplier, slope_shift)
        return width(min(max(np.int64(scaled) + zero, low), high))

    return prelu


def _prelu_of_vectors(e: Emitter, x: Value, slope: Value) -> Value:
    scaled = e.builder.fmul(x, slope)
    return e.builder.select(e.builder.fcmp_ordered(">=", x, e.const(0.0, x.type)), x, scaled)


@njit(error_model="numpy")
def _no_limits(block):
    return -_INFINITY, _INFINITY


kernels.add(PRELU, "prelu_f32")(
    repeated_row_kernel(
        broadcast_kernel(read_f32, write_f32, _nothing, _prelu),
        repeated_row("prelu_rows", _prelu_of_vectors),
        _no_limits,
    )
)
kernels.add(PRELU_Q8, "prelu_i8")(
    broadcast_kernel(read_i8, write_i8, _scales, _quantized(np.int8, -128, 127))
)
kernels.add(PRELU_Q8, "prelu_u8")(broadcast_kernel(read_u8, write_u8, _scales, _quantized(np.uint8, 0, 255)))
kernels.add(PRELU_Q8, "prelu_i16")(
    broadcast_kernel(read_i16, write_i16, _scales, _quantized(np.int16, -32768, 32767))
)
