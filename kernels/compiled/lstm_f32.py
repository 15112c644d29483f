"""LSTM operators with float32 activations.

Source: LiteRT tflite/kernels/lstm_eval.cc, EvalFloat and EvalHybrid.

As in lstm_q8.py, loads of what the kernel itself writes are plain.
"""

import numpy as np
from numba import njit

from ...lite.native_blocks import STOPPED
from ..fused_activation import NONE
from ..lstm_cell import CELL, FORGET, INPUT, OUTPUT
from ..lstm_f32 import LSTM_F32
from .driver.cancellation import is_to_stop
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, write_f32
from .language.memory import float32_pointer
from .language.vector_math import logistic_f32
from .recurrent import accumulate_f32, accumulate_i8, activate, add_scaled, quantize

kernels = KernelSources()

_ZERO = np.float32(0)
_jit = njit(error_model="numpy", fastmath={"contract"})


@_jit
def multiply_f32(a, gates, sums, x, aux, state, quantized):
    accumulate_f32(gates, a.input_weights, x, a.in_depth, 4 * a.padded_cells)
    if a.aux_weights:
        accumulate_f32(gates, a.aux_weights, aux, a.aux_depth, 4 * a.padded_cells)
    accumulate_f32(gates, a.recurrent_weights, state, a.out_depth, 4 * a.padded_cells)


@_jit
def add_quantized(a, gates, sums, values, depth, weights, scales, row_sums, quantized):
    """gates += weights * values, the values quantized first."""
    padded = a.padded_cells
    scale, zero_point = quantize(values, depth, a.asymmetric, quantized)
    accumulate_i8(sums, weights, quantized, depth, 4 * padded)
    for gate in range(4):
        at = 4 * gate * padded
        real = np.float32(scale * scales[gate])
        add_scaled(gates + at, sums + at, padded, real, zero_point, row_sums + at)


@_jit
def multiply_hybrid(a, gates, sums, x, aux, state, quantized):
    weights, rows = a.input_weights, a.input_row_sums
    add_quantized(a, gates, sums, x, a.in_depth, weights, a.input_scale, rows, quantized)
    if a.aux_weights:
        weights, rows = a.aux_weights, a.aux_row_sums
        add_quantized(a, gates, sums, aux, a.aux_depth, weights, a.aux_scale, rows, quantized)
    weights, rows = a.recurrent_weights, a.recurrent_row_sums
    add_quantized(a, gates, sums, state, a.out_depth, weights, a.recurrent_scale, rows, quantized)


@_jit
def project_f32(a, values, sums, quantized, to):
    out, hidden = float32_pointer(to), float32_pointer(values)
    for i in range(a.cells):
        v, row = hidden[i], a.projection + 4 * i * a.out_depth
        for j in range(a.out_depth):
            write_f32(to, j, out[j] + v * read_f32(row, j))


@_jit
def project_hybrid(a, values, sums, quantized, to):
    scale, zero_point = quantize(values, a.cells, a.asymmetric, quantized)
    accumulate_i8(sums, a.projection, quantized, a.cells, a.out_depth)
    real = np.float32(scale * a.projection_scale)
    add_scaled(to, sums, a.out_depth, real, zero_point, a.projection_row_sums)


@_jit
def normalize(a, gate, values):
    """Layer normalization. Source: LiteRT portable_tensor_utils.cc, PortableMeanStddevNormalization."""
    x, cells = float32_pointer(values), a.cells
    total = _ZERO
    for i in range(cells):
        total += x[i]
    mean = np.float32(total / np.float32(cells))
    squares = _ZERO
    for i in range(cells):
        squares += (x[i] - mean) * (x[i] - mean)
    inverse = np.float32(1) / np.float32(np.sqrt(np.float32(squares / np.float32(cells)) + np.float32(1e-8)))
    at = 4 * gate * a.padded_cells
    for i in range(cells):
        scaled = np.float32((x[i] - mean) * inverse) * read_f32(a.norm_weights + at, i)
        write_f32(values, i, np.float32(scaled + read_f32(a.bias + at, i)))


@_jit
def gate_values(a, first, last, gates, cell):
    """Peephole, normalization and activation of gates first to last - 1."""
    padded = a.padded_cells
    for gate in range(first, last):
        values = gates + 4 * gate * padded
        x, state = float32_pointer(values), float32_pointer(cell)
        if gate == INPUT and a.coupled:
            continue
        if a.peephole and gate != CELL:
            weights = a.peephole + 4 * gate * padded
            for i in range(padded):
                write_f32(values, i, x[i] + state[i] * read_f32(weights, i))
        if a.norm_weights:
            normalize(a, gate, values)
        if gate == CELL:
            activate(values, padded, a.activation, values)
        else:
            for i in range(padded):
                write_f32(values, i, logistic_f32(x[i]))


@_jit
def update_cell(a, gates, cell):
    padded = a.padded_cells
    old, forget = float32_pointer(cell), float32_pointer(gates + 4 * FORGET * padded)
    enter, candidate = float32_pointer(gates + 4 * INPUT * padded), float32_pointer(gates + 4 * CELL * padded)
    clip = a.cell_clip
    for i in range(padded):
        opened = np.float32(1) - forget[i] if a.coupled else enter[i]
        value = forget[i] * old[i] + opened * candidate[i]
        if clip > 0:
            value = min(max(value, -clip), clip)
        write_f32(cell, i, np.float32(value))


def sequence(multiply, project):
    """A kernel around two ways of multiplying: float32 by float32, or quantized by int8."""

    @_jit
    def step(a, x, aux, state, gates, sums, cell, quantized):
        padded = a.padded_cells
        for i in range(4 * padded):
            write_f32(gates, i, _ZERO if a.norm_weights else read_f32(a.bias, i))
        multiply(a, gates, sums, x, aux, state, quantized)
        gate_values(a, INPUT, OUTPUT, gates, cell)
        update_cell(a, gates, cell)
        gate_values(a, OUTPUT, OUTPUT + 1, gates, cell)
        hidden, open_ = cell + 4 * padded, float32_pointer(gates + 4 * OUTPUT * padded)
        squashed, out = float32_pointer(hidden), float32_pointer(state)
        # Without an activation LiteRT takes the candidate where the activated cell belongs.
        source = gates + 4 * CELL * padded if a.activation == NONE else cell
        activate(source, padded, a.activation, hidden)
        for i in range(padded):
            write_f32(hidden, i, squashed[i] * open_[i])
        depth = a.out_depth
        if a.projection:
            for j in range(depth):
                write_f32(state, j, read_f32(a.projection_bias, j) if a.projection_bias else _ZERO)
            project(a, hidden, sums, quantized, state)
            clip = a.projection_clip
            if clip > 0:
                for j in range(depth):
                    write_f32(state, j, np.float32(min(max(out[j], -clip), clip)))
        else:
            for j in range(depth):
                write_f32(state, j, squashed[j])

    def lstm(a, chunk, chunks):
        padded, depth = a.padded_cells, a.out_depth
        gates = a.scratch + chunk * a.scratch_bytes
        cell = gates + 16 * padded
        sums = cell + 8 * padded
        quantized = sums + 4 * max(4 * padded, depth)
        step_cost = 1 + padded * (a.in_depth + a.aux_depth + depth) // 64
        for b in range(a.batch * chunk // chunks, a.batch * (chunk + 1) // chunks):
            state, kept = a.output_state + 4 * b * depth, a.cell_state + 4 * b * a.cells
            for i in range(padded):
                write_f32(cell, i, float32_pointer(kept)[i] if i < a.cells else _ZERO)
            for i in range(a.time):
                if is_to_stop(a.cancellation, step_cost):
                    return STOPPED
                t = a.time - 1 - i if a.reverse else i
                x = a.x + 4 * (b * a.x_batch_stride + t * a.x_time_stride)
                aux = a.aux + 4 * (b * a.aux_batch_stride + t * a.aux_time_stride)
                step(a, x, aux, state, gates, sums, cell, quantized)
                y = a.y + 4 * (b * a.y_batch_stride + t * a.y_time_stride + a.y_offset)
                for j in range(depth):
                    write_f32(y, j, float32_pointer(state)[j])
            for i in range(a.cells):
                write_f32(kept, i, float32_pointer(cell)[i])
        return 0

    return lstm


kernels.add(LSTM_F32, "lstm_f32")(sequence(multiply_f32, project_f32))
kernels.add(LSTM_F32, "lstm_hybrid")(sequence(multiply_hybrid, project_hybrid))
