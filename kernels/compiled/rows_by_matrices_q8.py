"""A few int8 rows times matrices that are no constants: these are read as they lie, without packing."""

from __future__ import annotations

import numpy as np
from numba import carray, int64, njit

from ..contraction.blocks import BATCH_MATMUL_ROWS_Q8
from ..requantize import FLOAT_ROUNDING
from .driver.kernel_source import KernelSources
from .language.elements import read_back_i32, read_f32, read_i8, read_i32, write_i8, write_u8
from .language.lane_order import interleaved, lanes_transposed
from .language.memory import int64_pointer
from .language.operations import add_unsigned_fours
from .language.simd import Emitter, Value, i8, i16, i32, microkernel, vector
from .requantize import requantize_double_rounding, requantize_float
from .row_sums_q8 import lane_sums
from .run_copy import fill_run

kernels = KernelSources()

_BYTES, _SUMS = vector(i8, 64), vector(i32, 16)
_COLUMNS = 8  # dot products that are computed side by side


def _emit_by_columns(
    e: Emitter, x: Value, offset: Value, w: Value, columns: Value, depth: Value, totals: Value
) -> None:
    b = e.builder
    x, offset, totals = (e.pointer(v) for v in (x, offset, totals))
    last = b.sub(columns, e.const(1))

    def some(n: Value, _: list[Value]) -> list[Value]:
        rows = [
            e.pointer(b.add(w, b.mul(e.smin(b.add(n, e.const(i)), last), depth))) for i in range(_COLUMNS)
        ]

        def step(k: Value, acc: list[Value]) -> list[Value]:
            weights = [e.load(row, _BYTES, k) for row in rows]
            sides = [e.load(side, _BYTES, k) for side in (x, offset)]
            pairs = [(side, weight) for side in sides for weight in weights]
            return [add_unsigned_fours(e, total, *pair) for total, pair in zip(acc, pairs, strict=True)]

        acc = e.loop(depth, [e.const(0, _SUMS)] * (2 * _COLUMNS), step, step=64)
        both = lane_sums(e, acc)
        parts = [e.shuffle(both, both, list(range(at, at + _COLUMNS))) for at in (0, _COLUMNS)]
        e.store(b.sub(*parts), e.offset(totals, b.mul(n, e.const(4))))
        return []

    e.loop(columns, [], some, step=_COLUMNS)


def _emit_by_rows(
    e: Emitter, x: Value, offset: Value, w: Value, columns: Value, depth: Value, totals: Value
) -> None:
    b = e.builder
    x, offset, totals = (e.pointer(v) for v in (x, offset, totals))
    last = b.sub(depth, e.const(1))

    def some(n: Value, _: list[Value]) -> list[Value]:
        start = b.add(w, n)

        def step(k: Value, acc: list[Value]) -> list[Value]:
            rows = []
            for i in range(4):
                row = e.smin(b.add(k, e.const(i)), last)
                rows.append(e.load(e.pointer(b.add(start, b.mul(row, columns))), _BYTES))
            halves = [
                [b.bitcast(interleaved(e, rows[i], rows[i + 1], part), vector(i16, 32)) for part in (0, 1)]
                for i in (0, 2)
            ]
            quads = [
                b.bitcast(interleaved(e, halves[0][j // 2], halves[1][j // 2], j % 2), _BYTES)
                for j in range(4)
            ]
            sides = [b.bitcast(e.load_splat(side, i32, 16, k), _BYTES) for side in (x, offset)]
            pairs = [(side, quad) for side in sides for quad in quads]
            return [add_unsigned_fours(e, total, *pair) for total, pair in zip(acc, pairs, strict=True)]

        acc = e.loop(depth, [e.const(0, _SUMS)] * 8, step, step=4)
        for j, total in enumerate(lanes_transposed(e, [b.sub(acc[j], acc[4 + j]) for j in range(4)])):
            e.store(total, e.offset(totals, b.mul(n, e.const(4))), 64 * j)
        return []

    e.loop(columns, [], some, step=64)


# (x, offset, w, columns, depth, totals): int32 totals of (x - offset) * w. x and offset are rows of unsigned
# bytes with zeros behind them up to a multiple of 64; w is [columns, depth], or [depth, columns]. Totals are
# written, and w is read, up to 63 elements behind the last.
_by_columns = microkernel("row_by_columns_q8", [int64] * 6, _emit_by_columns)
_by_rows = microkernel("row_by_rows_q8", [int64] * 6, _emit_by_rows)


@njit(error_model="numpy")
def unsigned_row(x, depth, to):
    """The row's bytes, 128 above what they stand for, with zeros behind them; returns their sum."""
    total = np.int32(0)
    for k in range(depth):
        value = np.int32(read_i8(x, k)) + np.int32(128)
        write_u8(to, k, np.uint8(value))
        total += value
    return np.int32(total)


@kernels.add(BATCH_MATMUL_ROWS_Q8)
def batch_matmul_rows_q8(a, chunk, chunks):
    x_index = carray(int64_pointer(a.x_index), a.batches)
    w_index = carray(int64_pointer(a.w_index), a.batches)
    depth, columns, rows = a.depth, a.columns, a.batches * a.rows
    row_bytes = (depth + 63) // 64 * 64
    x = a.scratch + chunk * a.scratch_bytes
    offset, totals = x + row_bytes, x + 2 * row_bytes
    fill_run(x, 0, 2 * row_bytes)
    for k in range(depth):
        write_u8(offset, k, np.uint8(a.x_offset))
    zero = a.y_zero_point
    for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
        batch = row // a.rows
        source = a.x + (x_index[batch] * a.rows + row - batch * a.rows) * depth
        sum_ = unsigned_row(source, depth, x) - np.int32(a.x_offset * depth)
        more = np.int32(-a.w_zero_point * sum_)
        w = a.w + w_index[batch] * columns * depth
        if a.by_columns:
            _by_columns(x, offset, w, columns, depth, totals)
        else:
            _by_rows(x, offset, w, columns, depth, totals)
        y = a.y + row * columns
        if a.rounding == FLOAT_ROUNDING:
            for n in range(columns):
                total, scale = np.int32(read_back_i32(totals, n) + more), read_f32(a.float_scales, n)
                write_i8(y, n, requantize_float(total, scale, zero, -128, 127))
        else:
            for n in range(columns):
                total = np.int32(read_back_i32(totals, n) + more)
                multiplier, shift = read_i32(a.multipliers, n), read_i32(a.shifts, n)
                write_i8(y, n, requantize_double_rounding(total, multiplier, shift, zero, -128, 127))
    return 0
