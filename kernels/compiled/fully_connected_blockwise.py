"""Rows quantized on the fly times int8 or 4-bit weights with a scale for each block."""

import numpy as np
from numba import carray, njit

from ..contraction.blocks import BLOCKWISE, INT4_COLUMNS, INT4_PANELS, INT4_ROW_BYTES, ROW_QUANTIZATION
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, int8_pointer, record_pointer, uint8_pointer
from .language.target import target
from .tile_int4 import int4_panels

kernels = KernelSources()
_quantization_at = record_pointer(ROW_QUANTIZATION)
ROW_BYTES = ROW_QUANTIZATION.itemsize

# A single row needs several pairs of panels to keep the multipliers busy.
ONE_ROW_PANELS = 4
_one_row = int4_panels(ONE_ROW_PANELS, (1,))
_rows = int4_panels(2, (8, 4, 2, 1) if target().avx512 else (2, 1))


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
    pairs = (a.columns + 2 * INT4_COLUMNS - 1) // (2 * INT4_COLUMNS)
    begin, end = pairs * chunk // chunks * 2, pairs * (chunk + 1) // chunks * 2
    row, ldy = 0, a.columns * 4
    while row < a.rows:
        rows = min(a.rows - row, a.block_rows)
        x, how = a.x + row * a.x_stride, a.quantization + row * ROW_BYTES
        panel = begin
        while panel < end:
            w, bias = a.w + panel * a.panel_bytes, a.bias + panel * INT4_ROW_BYTES
            y = a.y + row * ldy + panel * INT4_ROW_BYTES
            left = a.columns - panel * INT4_COLUMNS
            ldx, wide, blocks, steps, lo, hi = a.x_stride, a.panel_bytes, a.blocks, a.steps, a.low, a.high
            if a.rows == 1 and end - panel >= ONE_ROW_PANELS:
                _one_row(x, ldx, w, wide, y, ldy, 1, blocks, steps, left, how, bias, lo, hi)
                panel += ONE_ROW_PANELS
            else:
                _rows(x, ldx, w, wide, y, ldy, rows, blocks, steps, left, how, bias, lo, hi)
                panel += 2
        row += rows
    return 0
