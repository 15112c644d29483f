"""LSTM operators, int8 with an int16 cell state.

Source: LiteRT tflite/kernels/lstm_eval.cc, EvalInteger8x8_16.

Cells are padded, so that loops over them are whole vectors. Loads of what the kernel itself
writes are plain; only constants and the input are read by elements.reader, which says that no
write touches them.
"""

import numpy as np
from numba import njit

from ...lite.native_blocks import STOPPED
from ..lstm_cell import CELL, FORGET, INPUT, OUTPUT
from ..lstm_q8 import LSTM_Q8
from .driver.cancellation import is_to_stop
from .driver.kernel_source import KernelSources
from .fixed_point import clamp_i16, inverse_square_root, logistic_i16, rounding_shift, tanh_i16
from .language.elements import read_i8, read_i16, read_i32, write_i8, write_i16, write_i32
from .language.memory import int8_pointer, int16_pointer, int32_pointer
from .recurrent import add_products_i8
from .requantize import multiply_by_quantized_multiplier

kernels = KernelSources()


@njit(error_model="numpy")
def accumulate(sums, bias, weights, values, depth, width):
    """sums[j] = bias[j] + sum over k of values[k] * weights[k, j], width a multiple of LANES."""
    for i in range(width):
        write_i32(sums, i, read_i32(bias, i))
    add_products_i8(sums, weights, values, depth, width)


@njit(error_model="numpy")
def combine(a, gates, recurrent):
    """gates = input sums rescaled, plus recurrent sums rescaled, each within int16."""
    by_input, by_state = int32_pointer(gates), int32_pointer(recurrent)
    padded = a.padded_cells
    for gate in range(4):
        m, s = a.input_multiplier[gate], a.input_shift[gate]
        n, t = a.recurrent_multiplier[gate], a.recurrent_shift[gate]
        for i in range(gate * padded, (gate + 1) * padded):
            value = clamp_i16(multiply_by_quantized_multiplier(by_input[i], m, s))
            value += multiply_by_quantized_multiplier(by_state[i], n, t)
            write_i32(gates, i, clamp_i16(value))


@njit(error_model="numpy")
def add_peephole(a, gate, values, cell, first):
    """Add the cell's products; first counts the cells of the batch entries before this one.

    LiteRT takes the outputs, not the cells, for the length of the weights, and runs over the
    entries of a time-major batch without a break: with a projection the weights shift.
    """
    gates, state = int32_pointer(values), int32_pointer(cell)
    m, s = a.peephole_multiplier[gate], a.peephole_shift[gate]
    weights = a.peephole + 2 * gate * a.padded_cells
    for i in range(min(a.cells, a.peephole_end - first)):
        product = np.int32(read_i16(weights, (first + i) % a.out_depth)) * state[i]
        write_i32(values, i, clamp_i16(gates[i] + multiply_by_quantized_multiplier(product, m, s)))


@njit(error_model="numpy")
def normalize(a, gate, values):
    """Layer normalization of one gate's cells. Source: portable_tensor_utils.cc, PortableApplyLayerNorm."""
    gates = int32_pointer(values)
    cells = a.cells
    total, squares = np.int64(0), np.int64(0)
    for i in range(cells):
        total += gates[i]
        squares += np.int64(gates[i]) * gates[i]
    mean = toward_zero(total * 1024, cells)
    spread = toward_zero(squares * ((1 << 20) // cells) - mean * mean, 1 << 20)
    m, s = inverse_square_root(spread if spread >= 1 else np.int64(a.norm_variance_guard[gate]))
    weights = a.norm_weights + 2 * gate * a.padded_cells
    bias = a.norm_bias + 4 * gate * a.padded_cells
    for i in range(cells):
        scaled = np.int64(multiply_by_quantized_multiplier(np.int32(1024 * gates[i] - mean), m, s))
        # The sum is an int32 in the reference, too.
        weighed = np.int64(np.int32(scaled * read_i16(weights, i) + read_i32(bias, i)))
        rounded = toward_zero(weighed + 512 if weighed > 0 else weighed - 512, 1024)
        rescaled = multiply_by_quantized_multiplier(
            np.int32(rounded), a.norm_multiplier[gate], a.norm_shift[gate] + 12
        )
        write_i32(values, i, clamp_i16(rescaled))


@njit(error_model="numpy")
def toward_zero(a, b):
    """a / b for b > 0, as C divides."""
    return a // b if a >= 0 else -(-a // b)


@njit(error_model="numpy")
def logistic_of(values, padded):
    gates = int32_pointer(values)
    for i in range(padded):
        write_i32(values, i, logistic_i16(gates[i]))


@njit(error_model="numpy")
def tanh_of(values, padded, integer_bits, to):
    source = int32_pointer(values)
    for i in range(padded):
        write_i32(to, i, tanh_i16(source[i], integer_bits))


@njit(error_model="numpy")
def update_cell(a, gates, cell):
    """cell = forget * cell + input * candidate; the gates have no integer bits."""
    padded = a.padded_cells
    old, forget = int32_pointer(cell), int32_pointer(gates + 4 * FORGET * padded)
    enter, candidate = int32_pointer(gates + 4 * INPUT * padded), int32_pointer(gates + 4 * CELL * padded)
    shift = 30 + a.cell_scale_log2
    for i in range(padded):
        kept = np.int32(np.int16(rounding_shift(np.int32(forget[i] * old[i]), 15)))
        opened = np.int32(32767 - forget[i]) if a.coupled else enter[i]
        added = np.int32(np.int16(rounding_shift(np.int32(opened * candidate[i]), shift)))
        value = clamp_i16(kept + added)
        if a.cell_clip > 0:
            value = min(max(value, np.int32(-a.cell_clip)), a.cell_clip)
        write_i32(cell, i, value)


@njit(error_model="numpy")
def hidden_values(a, output_gate, squashed, to):
    """The cell's contribution: int8, at most `cells` of them are written."""
    gate, cell = int32_pointer(output_gate), int32_pointer(squashed)
    m, s, zero = a.hidden_multiplier, a.hidden_shift, a.hidden_zero_point
    for i in range(a.cells):
        value = multiply_by_quantized_multiplier(np.int32(gate[i] * cell[i]), m, s) + zero
        write_i8(to, i, np.int8(min(max(value, -128), 127)))


@njit(error_model="numpy")
def project(a, hidden, sums, to):
    values, total = int8_pointer(hidden), int32_pointer(sums)
    depth = a.out_depth
    for j in range(depth):
        write_i32(sums, j, read_i32(a.projection_bias, j))
    for i in range(a.cells):
        v, row = np.int32(values[i]), a.projection + i * depth
        for j in range(depth):
            write_i32(sums, j, np.int32(total[j] + v * np.int32(read_i8(row, j))))
    m, s = a.projection_multiplier, a.projection_shift
    for j in range(depth):
        value = np.int64(multiply_by_quantized_multiplier(total[j], m, s)) + a.output_zero_point
        value = min(max(value, -128), 127)
        if a.projection_clip > 0:
            value = min(max(value, -a.projection_clip), a.projection_clip)
        write_i8(to, j, np.int8(value))


@njit(error_model="numpy")
def gate_values(a, first, last, gates, cell, peephole_first):
    """Peephole, normalization and activation of gates first to last - 1."""
    for gate in range(first, last):
        values = gates + 4 * gate * a.padded_cells
        if gate == INPUT and a.coupled:
            continue
        if a.peephole and gate != CELL:
            add_peephole(a, gate, values, cell, peephole_first)
        if a.norm_weights:
            normalize(a, gate, values)
        if gate == CELL:
            tanh_of(values, a.padded_cells, 3, values)
        else:
            logistic_of(values, a.padded_cells)


@njit(error_model="numpy")
def step(a, x, state, gates, recurrent, cell, peephole_first):
    """One time step: state [out_depth] int8 and cell [padded] int32 are read and written."""
    padded = a.padded_cells
    accumulate(gates, a.input_bias, a.input_weights, x, a.in_depth, 4 * padded)
    accumulate(recurrent, a.recurrent_bias, a.recurrent_weights, state, a.out_depth, 4 * padded)
    combine(a, gates, recurrent)
    gate_values(a, INPUT, OUTPUT, gates, cell, peephole_first)
    update_cell(a, gates, cell)
    gate_values(a, OUTPUT, OUTPUT + 1, gates, cell, peephole_first)
    # The recurrent sums are spent; their place serves for what follows.
    tanh_of(cell, padded, 15 + a.cell_scale_log2, recurrent)
    output_gate = gates + 4 * OUTPUT * padded
    if a.projection:
        hidden = recurrent + 4 * padded
        hidden_values(a, output_gate, recurrent, hidden)
        project(a, hidden, cell + 4 * padded, state)
    else:
        hidden_values(a, output_gate, recurrent, state)


@kernels.add(LSTM_Q8)
def lstm_q8(a, chunk, chunks):
    padded = a.padded_cells
    gates = a.scratch + chunk * a.scratch_bytes
    recurrent = gates + 16 * padded
    cell = recurrent + 16 * padded
    step_cost = 1 + padded * (a.in_depth + a.out_depth) // 64
    for b in range(a.batch * chunk // chunks, a.batch * (chunk + 1) // chunks):
        state, kept = a.output_state + b * a.out_depth, a.cell_state + 2 * b * a.cells
        for i in range(padded):
            write_i32(cell, i, np.int32(int16_pointer(kept)[i]) if i < a.cells else np.int32(0))
        for t in range(a.time):
            if is_to_stop(a.cancellation, step_cost):
                return STOPPED
            x = a.x + b * a.x_batch_stride + t * a.x_time_stride
            step(a, x, state, gates, recurrent, cell, b * a.peephole_stride)
            y = a.y + b * a.y_batch_stride + t * a.y_time_stride
            for j in range(a.out_depth):
                write_i8(y, j, int8_pointer(state)[j])
        for i in range(a.cells):
            write_i16(kept, i, np.int16(int32_pointer(cell)[i]))
    return 0
