"""RNN operators with float32 activations.

Source: LiteRT tflite/kernels/internal/kernel_utils.cc, RnnBatchStep.
"""

import numpy as np
from numba import njit

from ...lite.native_blocks import STOPPED
from ..rnn import RNN_F32
from .driver.cancellation import is_to_stop
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, write_f32
from .language.memory import float32_pointer
from .recurrent import accumulate_f32, accumulate_i8, activate, add_scaled, quantize

kernels = KernelSources()

_jit = njit(error_model="numpy", fastmath={"contract"})


@_jit
def multiply_f32(a, sums, integers, values, depth, weights, scale, row_sums, quantized):
    accumulate_f32(sums, weights, values, depth, a.padded)


@_jit
def multiply_hybrid(a, sums, integers, values, depth, weights, scale, row_sums, quantized):
    step, zero_point = quantize(values, depth, a.asymmetric, quantized)
    accumulate_i8(integers, weights, quantized, depth, a.padded)
    add_scaled(sums, integers, a.padded, np.float32(step * scale), zero_point, row_sums)


def sequence(multiply):
    """A kernel around a way of multiplying."""

    @_jit
    def step(a, x, aux, y, state, sums):
        integers = sums + 4 * a.padded
        quantized = integers + 4 * a.padded
        for i in range(a.padded):
            write_f32(sums, i, read_f32(a.bias, i))
        weights, rows = a.input_weights, a.input_row_sums
        multiply(a, sums, integers, x, a.in_depth, weights, a.input_scale, rows, quantized)
        if a.aux_depth:
            weights, rows = a.aux_weights, a.aux_row_sums
            multiply(a, sums, integers, aux, a.aux_depth, weights, a.aux_scale, rows, quantized)
        weights, rows = a.recurrent_weights, a.recurrent_row_sums
        multiply(a, sums, integers, state, a.units, weights, a.recurrent_scale, rows, quantized)
        activate(sums, a.padded, a.activation, sums)
        for i in range(a.units):
            value = float32_pointer(sums)[i]
            write_f32(state, i, value)
            write_f32(y, i, value)

    def rnn(a, chunk, chunks):
        sums = a.scratch + chunk * a.scratch_bytes
        step_cost = 1 + a.padded * (a.in_depth + a.aux_depth + a.units) // 256
        for b in range(a.batch * chunk // chunks, a.batch * (chunk + 1) // chunks):
            state = a.state + 4 * b * a.units
            for i in range(a.time * a.repeats):
                if is_to_stop(a.cancellation, step_cost):
                    return STOPPED
                t = i % a.time
                if a.reverse:
                    t = a.time - 1 - t
                x = a.x + 4 * (b * a.x_batch_stride + t * a.x_time_stride)
                aux = a.aux + 4 * (b * a.aux_batch_stride + t * a.aux_time_stride)
                y = a.y + 4 * (b * a.y_batch_stride + t * a.y_time_stride + a.y_offset)
                step(a, x, aux, y, state, sums)
        return 0

    return rnn


kernels.add(RNN_F32, "rnn_f32")(sequence(multiply_f32))
kernels.add(RNN_F32, "rnn_hybrid")(sequence(multiply_hybrid))
