"""Weights to integers: each to the nearest, or one column after another, as GPTQ has it.

All is computed as NumPy's float64 does, operation by operation, so that files do not depend on who rounds.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..observation import COLUMNS, NEAREST
from .driver.kernel_source import KernelSources
from .language.element_types import F64
from .language.elements import read_f32, read_f64, write_f64, write_i8

kernels = KernelSources()

# So many rows of some columns stay in the cache.
_ROWS = 256
# A number that is added and taken off again leaves the nearest even of a half, in float64.
_TO_WHOLE = np.float64(6755399441055744.0)
_read_back = F64.read_back


@njit(error_model="numpy")
def _nearest(value, low, high):
    """The nearest whole number, halves away from zero, between low and high."""
    size = abs(value)
    whole = np.floor(size)
    whole += np.float64(size - whole >= 0.5)
    return np.int8(min(max(-whole if value < 0 else whole, low), high))


@kernels.add(NEAREST)
def nearest_f32(a, chunk, chunks):
    low, high = a.low, a.high
    for outer in range(a.outer):
        for channel in range(a.channels):
            scale, first = read_f64(a.scales, channel), (outer * a.channels + channel) * a.inner
            x, y = a.x + 4 * first, a.y + first
            for i in range(a.inner):
                write_i8(y, i, _nearest(np.float64(read_f32(x, i)) / scale, low, high))
    return 0


@njit(error_model="numpy")
def _round_column(a, column, row, rows):
    """Some rows of a column: their integers, and the errors, which those before it make good for."""
    low, high, at = a.low, a.high, column * a.rows + row
    left, w, steps = a.left + 8 * at, a.w + 8 * at, a.steps + 8 * at
    q, errors = a.q + at, a.errors + 8 * at
    for i in range(rows):
        step = read_f64(steps, i)
        whole = min(max((_read_back(left, i) / step + _TO_WHOLE) - _TO_WHOLE, low), high)
        write_i8(q, i, np.int8(whole))
        write_f64(errors, i, read_f64(w, i) - whole * step)


@njit(error_model="numpy")
def _add_errors(a, column, other, row, rows):
    """What a column's errors ask of another one before it."""
    factor = read_f64(a.factor, column * a.stride + other)
    errors, left = a.errors + 8 * (column * a.rows + row), a.left + 8 * (other * a.rows + row)
    for i in range(rows):
        write_f64(left, i, _read_back(left, i) + factor * _read_back(errors, i))


@kernels.add(COLUMNS)
def columns_f64(a, chunk, chunks):
    row = 0
    while row < a.rows:
        rows = min(_ROWS, a.rows - row)
        for column in range(a.columns - 1, -1, -1):
            _round_column(a, column, row, rows)
            for other in range(column):
                _add_errors(a, column, other, row, rows)
        row += rows
    return 0
