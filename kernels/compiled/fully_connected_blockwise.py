"""Rows quantized on the fly times int8 or 4-bit weights with a scale for each block."""

import numpy as np
from numba import carray, njit

from ..contraction.blocks import (
    BLOCKWISE,
    INT4_COLUMNS,
    INT4_GROUP,
    INT4_PAIR,
    INT4_PANELS,
    ROW_QUANTIZATION,
)
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, int8_pointer, record_pointer, uint8_pointer
from .language.target import target
from .tile_int4 import int4_channels, int4_panels

kernels = KernelSources()
_quantization_at = record_pointer(ROW_QUANTIZATION)
ROW_BYTES = ROW_QUANTIZATION.itemsize
PAIR_COLUMNS, GROUP_COLUMNS = INT4_PAIR * INT4_COLUMNS, INT4_GROUP * INT4_COLUMNS

_rows = int4_panels(INT4_PAIR, (8, 4, 2, 1) if target().avx512 else (2, 1), 4)


@njit(error_model="numpy")
def dot(x, w, start, stop):
    total = np.int32(0)
    for k in range(start, stop):
        total += np.int32(np.int32(x[k]) * np.int32(w[k]))
    return np.float32(np.int32(total))


@kernels.add(BLOCKWISE)
def fully_connected_blockwise(a, chunk, chunks):
    blocks = a.depth // a.block_size
    quantization = carray(_quantization_at(a.quantization), a.rows)
    scales = carray(float32_pointer(a.scales), (a.columns, blocks))
    weight_sums = carray(float32_pointer(a.weight_sums), a.columns)
    y = carray(float32_pointer(a.y), (a.rows, a.columns))
    for n in range(a.columns * chunk // chunks, a.columns * (chunk + 1) // chunks):
        w = int8_pointer(a.w + n * a.depth)
        for m in range(a.rows):
            x = uint8_pointer(a.x + m * a.x_stride)
            total = np.float32(0)
            for block in range(blocks):
                start = block * a.block_size
                total += dot(x, w, start, start + a.block_size) * scales[n, block]
            total -= np.float32(quantization[m].zero_point) * weight_sums[n]
            total *= quantization[m].scale
            if a.bias != 0:
                total += float32_pointer(a.bias)[n]
            y[m, n] = min(max(total, a.low), a.high)
    return 0


@kernels.add(INT4_PANELS)
def fully_connected_int4(a, chunk, chunks):
    pairs = (a.columns + PAIR_COLUMNS - 1) // PAIR_COLUMNS
    row, ldx, ldy = 0, a.x_stride, a.columns * 4
    blocks, steps, low, high = a.blocks, a.steps, a.low, a.high
    while row < a.rows:
        rows = min(a.rows - row, a.block_rows)
        x, how = a.x + row * ldx, a.quantization + row * ROW_BYTES
        for pair in range(pairs * chunk // chunks, pairs * (chunk + 1) // chunks):
            column = pair * PAIR_COLUMNS
            w, bias, y = a.w + column * a.column_bytes, a.bias + column * 4, a.y + row * ldy + column * 4
            _rows(x, ldx, w, y, ldy, rows, blocks, steps, a.columns - column, how, bias, low, high)
        row += rows
    return 0


def add_one_row(name, scale_bytes):
    """The kernel of a single row, which needs several pairs of panels to keep the multipliers busy."""
    one_row = int4_panels(INT4_GROUP, (1,), scale_bytes)
    last_pair = int4_panels(INT4_PAIR, (1,), scale_bytes)

    @kernels.add(INT4_PANELS, name)
    def one_row_of_int4(a, chunk, chunks):
        groups = (a.columns + GROUP_COLUMNS - 1) // GROUP_COLUMNS
        how, blocks, steps, low, high = a.quantization, a.blocks, a.steps, a.low, a.high
        for group in range(groups * chunk // chunks, groups * (chunk + 1) // chunks):
            column = group * GROUP_COLUMNS
            left = a.columns - column
            w, bias, y = a.w + column * a.column_bytes, a.bias + column * 4, a.y + column * 4
            if left > PAIR_COLUMNS:
                one_row(a.x, 0, w, y, 0, 1, blocks, steps, left, how, bias, low, high)
            else:
                last_pair(a.x, 0, w, y, 0, 1, blocks, steps, left, how, bias, low, high)
        return 0


add_one_row("fully_connected_int4_row", 2)
add_one_row("fully_connected_int4_row_reference", 4)

_channels, _last_channels = int4_channels(INT4_GROUP), int4_channels(INT4_PAIR)


@kernels.add(INT4_PANELS)
def fully_connected_int4_channels(a, chunk, chunks):
    """A single row; weights have a scale for each column."""
    x = carray(uint8_pointer(a.x), 8 * a.steps)
    x_sum = 0
    for k in range(len(x)):
        x_sum += x[k]
    groups = (a.columns + GROUP_COLUMNS - 1) // GROUP_COLUMNS
    for group in range(groups * chunk // chunks, groups * (chunk + 1) // chunks):
        column = group * GROUP_COLUMNS
        left = a.columns - column
        w, bias, y = a.w + column * a.column_bytes, a.bias + column * 4, a.y + column * 4
        if left > PAIR_COLUMNS:
            _channels(a.x, x_sum, w, y, a.steps, left, a.quantization, bias, a.low, a.high)
        else:
            _last_channels(a.x, x_sum, w, y, a.steps, left, a.quantization, bias, a.low, a.high)
    return 0
