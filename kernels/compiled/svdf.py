"""SVDF.

Source: LiteRT tflite/kernels/internal/reference/svdf.h.
"""

import numpy as np
from numba import njit

from ..recurrent import ROWS
from ..svdf import SVDF
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, read_i16, read_i32, write_f32, write_i8
from .language.memory import float32_pointer, int8_pointer, int16_pointer, int32_pointer
from .recurrent import accumulate_f32, accumulate_i8, activate, add_scaled, quantize
from .requantize import multiply_by_quantized_multiplier

kernels = KernelSources()

_jit = njit(error_model="numpy", fastmath={"contract"})
_ZERO = np.float32(0)


@_jit
def filter_f32(a, b, sums):
    """Put the features into the state and filter it: the outputs of one batch entry."""
    memory = a.memory
    new, y = float32_pointer(sums), a.y + 4 * b * (a.filters // a.rank)
    for unit in range(a.filters // a.rank):
        total = _ZERO
        for f in range(unit * a.rank, (unit + 1) * a.rank):
            state = float32_pointer(a.state + 4 * (b * a.filters + f) * memory)
            filtered = _ZERO
            for m in range(memory):
                value = state[m + 1] if m + 1 < memory else new[f]
                state[m] = value
                filtered += value * read_f32(a.time_weights, f * memory + m)
            total += filtered
        if a.bias:
            total += read_f32(a.bias, unit)
        write_f32(y, unit, total)
    activate(y, a.filters // a.rank, a.activation, y)


@kernels.add(SVDF)
def svdf_f32(a, chunk, chunks):
    sums = a.scratch + chunk * a.scratch_bytes
    for b in range(a.batch * chunk // chunks, a.batch * (chunk + 1) // chunks):
        for i in range(a.padded):
            write_f32(sums, i, _ZERO)
        accumulate_f32(sums, a.features, a.x + 4 * b * a.depth, a.depth, a.padded)
        filter_f32(a, b, sums)
    return 0


@kernels.add(SVDF)
def svdf_hybrid(a, chunk, chunks):
    sums = a.scratch + chunk * a.scratch_bytes
    integers = sums + 4 * a.padded
    quantized = integers + 4 * a.padded
    for b in range(a.batch * chunk // chunks, a.batch * (chunk + 1) // chunks):
        for i in range(a.padded):
            write_f32(sums, i, _ZERO)
        scale, zero_point = quantize(a.x + 4 * b * a.depth, a.depth, a.asymmetric, quantized)
        accumulate_i8(integers, a.features, quantized, a.depth, a.padded)
        add_scaled(sums, integers, a.padded, np.float32(scale * a.scale), zero_point, a.row_sums)
        filter_f32(a, b, sums)
    return 0


@njit(error_model="numpy")
def filter_q8(a, b, sums):
    memory = a.memory
    new, y = int32_pointer(sums), a.y + b * (a.filters // a.rank)
    for unit in range(a.filters // a.rank):
        total = np.int32(0)
        for f in range(unit * a.rank, (unit + 1) * a.rank):
            state = int16_pointer(a.state + 2 * (b * a.filters + f) * memory)
            feature = np.int32(new[f] + read_i32(a.feature_bias, f))
            feature = multiply_by_quantized_multiplier(feature, a.state_multiplier, a.state_shift)
            feature = min(max(feature, np.int32(-32768)), np.int32(32767))
            for m in range(memory):
                value = np.int32(state[m + 1]) if m + 1 < memory else feature
                state[m] = np.int16(value)
                total = np.int32(total + value * np.int32(read_i16(a.time_weights, f * memory + m)))
        if a.bias:
            total = np.int32(total + read_i32(a.bias, unit))
        value = np.int64(multiply_by_quantized_multiplier(total, a.output_multiplier, a.output_shift))
        write_i8(y, unit, np.int8(min(max(value + a.output_zero_point, -128), 127)))


@kernels.add(SVDF)
def svdf_q8(a, chunk, chunks):
    sums = a.scratch + chunk * a.scratch_bytes
    values = sums + 8 * a.padded
    for b in range(a.batch * chunk // chunks, a.batch * (chunk + 1) // chunks):
        x, copy = int8_pointer(a.x + b * a.depth), int8_pointer(values)
        # What lies behind an entry meets rows of zeros, but must be there.
        for i in range(a.depth + ROWS):
            copy[i] = x[i] if i < a.depth else np.int8(0)
        accumulate_i8(sums, a.features, values, a.depth, a.padded)
        filter_q8(a, b, sums)
    return 0
