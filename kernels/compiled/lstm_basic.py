"""LSTM's basic kernel.

Source: LiteRT tflite/kernels/internal/optimized/optimized_ops.h, LstmCell.
"""

import numpy as np
from numba import njit

from ..lstm_basic import LSTM_BASIC
from .driver.kernel_source import KernelSources
from .fixed_point import clamp_i16, logistic_i16, rounded_product, rounding_shift, saturating_shift, tanh_i16
from .language.elements import read_f32, read_i32, read_u8, write_f32
from .language.memory import float32_pointer, int16_pointer, uint8_pointer
from .language.vector_math import logistic_f32, tanh_f32
from .recurrent import accumulate_f32
from .requantize import multiply_rounding_up

kernels = KernelSources()


@njit(error_model="numpy")
def join(a, b, to, x, activation):
    """to[b] = x[b] beside activation[b]."""
    depth = a.in_depth + a.cells
    for i in range(a.in_depth):
        to[b * depth + i] = x[b * a.in_depth + i]
    for i in range(a.cells):
        to[b * depth + a.in_depth + i] = activation[b * a.cells + i]


@njit(error_model="numpy")
def keep(a, b, new_activation, new_state, activation, state):
    for i in range(b * a.cells, (b + 1) * a.cells):
        if a.keeps_activation:
            activation[i] = new_activation[i]
        if a.keeps_state:
            state[i] = new_state[i]


@kernels.add(LSTM_BASIC)
def lstm_basic_f32(a, chunk, chunks):
    cells, depth = a.cells, a.in_depth + a.cells
    activation, state = float32_pointer(a.activation), float32_pointer(a.state)
    new_activation, new_state = float32_pointer(a.new_activation), float32_pointer(a.new_state)
    joined = float32_pointer(a.joined)
    for b in range(a.batch * chunk // chunks, a.batch * (chunk + 1) // chunks):
        join(a, b, joined, float32_pointer(a.x), activation)
        sums, gates = a.scratch + 4 * b * a.padded, a.gates + 16 * b * cells
        for i in range(a.padded):
            write_f32(sums, i, read_f32(a.bias, i))
        accumulate_f32(sums, a.weights, a.joined + 4 * b * depth, depth, a.padded)
        for i in range(4 * cells):
            write_f32(gates, i, float32_pointer(sums)[i])
        g = float32_pointer(gates)
        for i in range(cells):
            opened = logistic_f32(g[i]) * tanh_f32(g[cells + i])
            value = opened + logistic_f32(g[2 * cells + i]) * state[b * cells + i]
            new_state[b * cells + i] = value
            new_activation[b * cells + i] = logistic_f32(g[3 * cells + i]) * tanh_f32(value)
        keep(a, b, new_activation, new_state, activation, state)
    return 0


@njit(error_model="numpy")
def gate_value(a, b, row, depth):
    """A gate before activation, with three integer bits; the inputs' zero point is 128."""
    total = read_i32(a.bias, row)
    values = uint8_pointer(a.joined + b * depth)
    for k in range(depth):
        weight = np.int32(read_u8(a.weights, row * depth + k)) - a.weights_zero_point
        total = np.int32(total + weight * (np.int32(values[k]) - 128))
    return clamp_i16(multiply_rounding_up(total, a.multiplier, a.shift))


@kernels.add(LSTM_BASIC)
def lstm_basic_u8(a, chunk, chunks):
    cells, depth = a.cells, a.in_depth + a.cells
    activation, state = uint8_pointer(a.activation), int16_pointer(a.state)
    new_activation, new_state = uint8_pointer(a.new_activation), int16_pointer(a.new_state)
    gates = int16_pointer(a.gates)
    for b in range(a.batch * chunk // chunks, a.batch * (chunk + 1) // chunks):
        join(a, b, uint8_pointer(a.joined), uint8_pointer(a.x), activation)
        g = 4 * b * cells
        for row in range(4 * cells):
            gates[g + row] = np.int16(gate_value(a, b, row, depth))
        for i in range(cells):
            opened = rounded_product(logistic_i16(gates[g + i]), tanh_i16(gates[g + cells + i], 3))
            kept = rounded_product(logistic_i16(gates[g + 2 * cells + i]), state[b * cells + i])
            value = clamp_i16(rounding_shift(opened, 4) + kept)
            squashed = tanh_i16(saturating_shift(value, 1), 3)
            result = rounded_product(logistic_i16(gates[g + 3 * cells + i]), squashed)
            new_state[b * cells + i] = np.int16(value)
            byte = min(max(rounding_shift(result, 8), np.int32(-128)), np.int32(127)) + 128
            new_activation[b * cells + i] = np.uint8(byte)
        keep(a, b, new_activation, new_state, activation, state)
    return 0
