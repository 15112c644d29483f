"""UNIDIRECTIONAL_SEQUENCE_LSTM with float32 activations.

Source: LiteRT tflite/kernels/lstm_eval.cc, EvalFloat and EvalHybrid.

As in lstm_q8.py, loads of what the kernel itself writes are plain.
"""

import numpy as np
from numba import njit

from ..lstm import CELL, FORGET, INPUT, OUTPUT, ROWS
from ..lstm_f32 import LSTM_F32, RELU, RELU6, TANH
from .elements import read_f32, read_i8, read_i32, write_f32, write_i8, write_i32
from .family import KernelFamily
from .memory import float32_pointer, int8_pointer, int32_pointer
from .vector_math import logistic_f32, tanh_f32

kernels = KernelFamily()

_ZERO = np.float32(0)
_jit = njit(error_model="numpy", fastmath={"contract"})


@_jit
def accumulate_f32(sums, weights, values, depth, width):
    """sums[j] += sum over k of values[k] * weights[k, j], width a multiple of LANES."""
    total, vector = float32_pointer(sums), float32_pointer(values)
    whole = depth // ROWS * ROWS
    for k in range(0, whole, ROWS):
        v0, v1, v2, v3 = vector[k], vector[k + 1], vector[k + 2], vector[k + 3]
        row = weights + 4 * k * width
        for i in range(width):
            value = total[i] + v0 * read_f32(row, i)
            value += v1 * read_f32(row + 4 * width, i)
            value += v2 * read_f32(row + 8 * width, i)
            write_f32(sums, i, value + v3 * read_f32(row + 12 * width, i))
    for k in range(whole, depth):
        v0, row = vector[k], weights + 4 * k * width
        for i in range(width):
            write_f32(sums, i, total[i] + v0 * read_f32(row, i))


@_jit
def accumulate_i8(sums, weights, values, depth, width):
    """sums[j] = sum over k of values[k] * weights[k, j]; weights have zero rows up to ROWS."""
    total, vector = int32_pointer(sums), int8_pointer(values)
    for i in range(width):
        write_i32(sums, i, np.int32(0))
    for k in range(0, depth, ROWS):
        v0, v1 = np.int32(vector[k]), np.int32(vector[k + 1])
        v2, v3 = np.int32(vector[k + 2]), np.int32(vector[k + 3])
        row = weights + k * width
        for i in range(width):
            grown = (
                v0 * np.int32(read_i8(row, i))
                + v1 * np.int32(read_i8(row + width, i))
                + v2 * np.int32(read_i8(row + 2 * width, i))
                + v3 * np.int32(read_i8(row + 3 * width, i))
            )
            write_i32(sums, i, np.int32(total[i] + grown))


@_jit
def round_away(value):
    """The nearest integer, ties away from zero."""
    half = np.float32(0.5) if value >= 0 else np.float32(-0.5)
    return np.int32(np.float32(value + half))


@_jit
def quantize(values, size, asymmetric, to):
    """Quantize to int8; returns (scale, zero point).

    Source: LiteRT portable_tensor_utils.cc, PortableSymmetricQuantizeFloats and its asymmetric twin.
    """
    x = float32_pointer(values)
    low, high = _ZERO, _ZERO
    for i in range(size):
        low, high = min(low, x[i]), max(high, x[i])
    zero_point = np.int32(0)
    if asymmetric:
        step = (np.float64(high) - np.float64(low)) / 255.0
        from_low, from_high = -128.0 - low / step, 127.0 - high / step
        place = from_low if 128.0 + abs(low / step) < 127.0 + abs(high / step) else from_high
        zero_point = np.int32(min(max(np.floor(place + 0.5), -128.0), 127.0))
        scale = np.float32(step)
        inverse = np.float32(1) / scale
    else:
        size_of_largest = max(-low, high)
        scale = np.float32(size_of_largest / np.float32(127))
        inverse = np.float32(np.float32(127) / size_of_largest)
    lowest = -128 if asymmetric else -127
    if low == high:
        scale, inverse, zero_point = np.float32(1), _ZERO, np.int32(0)
    for i in range(size):
        scaled = np.float32(np.float32(x[i] * inverse) + np.float32(zero_point))
        write_i8(to, i, np.int8(min(max(round_away(scaled), lowest), 127)))
    for i in range(size, size + ROWS):
        write_i8(to, i, np.int8(0))
    return scale, zero_point


@_jit
def add_scaled(to, sums, count, scale, zero_point, row_sums):
    """to[i] += scale * (sums[i] - zero_point * row_sums[i])."""
    old, total = float32_pointer(to), int32_pointer(sums)
    if zero_point != 0:
        for i in range(count):
            moved = np.int32(total[i] - zero_point * read_i32(row_sums, i))
            write_f32(to, i, old[i] + np.float32(moved) * scale)
    else:
        for i in range(count):
            write_f32(to, i, old[i] + np.float32(total[i]) * scale)


@_jit
def multiply_f32(a, gates, sums, x, state, quantized):
    accumulate_f32(gates, a.input_weights, x, a.in_depth, 4 * a.padded_cells)
    accumulate_f32(gates, a.recurrent_weights, state, a.out_depth, 4 * a.padded_cells)


@_jit
def multiply_hybrid(a, gates, sums, x, state, quantized):
    padded = a.padded_cells
    scale, zero_point = quantize(x, a.in_depth, a.asymmetric, quantized)
    accumulate_i8(sums, a.input_weights, quantized, a.in_depth, 4 * padded)
    for gate in range(4):
        at = 4 * gate * padded
        real = np.float32(scale * a.input_scale[gate])
        add_scaled(gates + at, sums + at, padded, real, zero_point, a.input_row_sums + at)
    scale, zero_point = quantize(state, a.out_depth, a.asymmetric, quantized)
    accumulate_i8(sums, a.recurrent_weights, quantized, a.out_depth, 4 * padded)
    for gate in range(4):
        at = 4 * gate * padded
        real = np.float32(scale * a.recurrent_scale[gate])
        add_scaled(gates + at, sums + at, padded, real, zero_point, a.recurrent_row_sums + at)


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
def activate(values, padded, activation, to):
    x = float32_pointer(values)
    if activation == TANH:
        for i in range(padded):
            write_f32(to, i, tanh_f32(x[i]))
    else:
        high = np.float32(6) if activation == RELU6 else np.float32(np.inf)
        low = _ZERO if activation in (RELU, RELU6) else np.float32(-np.inf)
        for i in range(padded):
            write_f32(to, i, np.float32(min(max(x[i], low), high)))


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
    def step(a, x, state, gates, sums, cell, quantized):
        padded = a.padded_cells
        for i in range(4 * padded):
            write_f32(gates, i, _ZERO if a.norm_weights else read_f32(a.bias, i))
        multiply(a, gates, sums, x, state, quantized)
        gate_values(a, INPUT, OUTPUT, gates, cell)
        update_cell(a, gates, cell)
        gate_values(a, OUTPUT, OUTPUT + 1, gates, cell)
        hidden, open_ = cell + 4 * padded, float32_pointer(gates + 4 * OUTPUT * padded)
        squashed, out = float32_pointer(hidden), float32_pointer(state)
        activate(cell, padded, a.activation, hidden)
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
        for b in range(a.batch * chunk // chunks, a.batch * (chunk + 1) // chunks):
            state, kept = a.output_state + 4 * b * depth, a.cell_state + 4 * b * a.cells
            for i in range(padded):
                write_f32(cell, i, float32_pointer(kept)[i] if i < a.cells else _ZERO)
            for t in range(a.time):
                x = a.x + 4 * (b * a.x_batch_stride + t * a.x_time_stride)
                step(a, x, state, gates, sums, cell, quantized)
                y = a.y + 4 * (b * a.y_batch_stride + t * a.y_time_stride)
                for j in range(depth):
                    write_f32(y, j, float32_pointer(state)[j])
            for i in range(a.cells):
                write_f32(kept, i, float32_pointer(cell)[i])
        return 0

    return lstm


kernels.add(LSTM_F32, "lstm_f32")(sequence(multiply_f32, project_f32))
kernels.add(LSTM_F32, "lstm_hybrid")(sequence(multiply_hybrid, project_hybrid))
