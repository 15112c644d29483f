"""Sums of float32 that bytes stand for, by a table, 16 rows at a time: each row's sum is added up in order.

And the bytes that a table's values come to. For processors that look bytes up in registers (AVX512_VBMI):
of each float32 of the table, byte after byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import float32, int32, int64

from .language.lane_order import interleaved, words_transposed
from .language.simd import Emitter, Value, f32, i8, i16, i32, microkernel, vector
from .lookup import lookup_in_registers

ROWS = 16
_COLUMNS, _QUAD = 64, 4  # of a vector of bytes, and of a word
_BYTES, _WORDS, _SUMS = vector(i8, 64), vector(i32, ROWS), vector(f32, ROWS)


# The float32 below a half: x >= 0 plus this, cut, is x rounded to the nearest, halves upwards.
BELOW_HALF = np.float32(0.49999997)


def _looked_up(e: Emitter, planes: list[list[Value]], index: Value) -> list[Value]:
    """The table's values of 16 rows of four columns, a vector for each column; index is as transposed."""
    b = e.builder
    # In each 128 bits there are four columns of four rows then.
    order = [lane * 16 + row * 4 + column for lane in range(4) for column in range(4) for row in range(4)]
    index = e.shuffle(index, index, order)
    parts = [lookup_in_registers(e, plane, index) for plane in planes]
    halves = [
        [b.bitcast(interleaved(e, parts[i], parts[i + 1], part), vector(i16, 32)) for part in (0, 1)]
        for i in (0, 2)
    ]
    return [
        b.bitcast(interleaved(e, halves[0][column // 2], halves[1][column // 2], column % 2), _SUMS)
        for column in range(_QUAD)
    ]


def _emit(
    e: Emitter, x: Value, step: Value, count: Value, depth: Value, offsets: Value, table: Value, sums: Value
) -> None:
    b = e.builder
    offsets, table, sums = (e.pointer(v) for v in (offsets, table, sums))
    kept = b.alloca(i8, size=e.const(ROWS * 64, i32))
    last = b.sub(count, e.const(1))
    rows = [e.pointer(b.add(x, b.mul(step, e.smin(e.const(k), last)))) for k in range(ROWS)]
    planes = [[e.load(table, _BYTES, plane * 256 + part) for part in range(0, 256, 64)] for plane in range(4)]

    def block(column: Value, totals: list[Value]) -> list[Value]:
        words = []
        for k, row in enumerate(rows):
            index = b.add(e.load(row, _BYTES, column), e.load_splat(offsets, i8, 64, k))
            words.append(b.bitcast(index, _WORDS))
        for k, word in enumerate(words_transposed(e, words)):
            e.store(word, kept, k * 64)
        left = e.smin(b.sub(depth, column), e.const(_COLUMNS))

        def quad(first: Value, totals: list[Value]) -> list[Value]:
            index = e.load(kept, _BYTES, b.mul(first, e.const(64 // _QUAD)))
            (total,) = totals
            for k, value in enumerate(_looked_up(e, planes, index)):
                is_there = b.icmp_signed("<", b.add(first, e.const(k)), left)
                total = b.select(is_there, b.fadd(total, value), total)
            return [total]

        return e.loop(left, totals, quad, step=_QUAD)

    (total,) = e.loop(depth, [e.const(0.0, _SUMS)], block, step=_COLUMNS)
    e.store(total, sums)


table_sums: Any = microkernel("table_sums", [int64] * 7, _emit)
"""table_sums(x, step, count, depth, offsets, table, sums): sums [16] of table[x + offset] of rows.

Row k starts k * step bytes on; those from `count` on are the last one's again. offsets are bytes [16], and
x + offset is modulo 256. The table is uint8 [4, 256], the lowest bytes of its float32 first. Up to 63 bytes
behind a row are read.
"""


def _emit_results(
    e: Emitter, results: Value, low: Value, high: Value, share: Value, zero: Value, highest: Value
) -> None:
    b, results = e.builder, e.pointer(results)
    share, zero, highest = (e.splat(v, ROWS) for v in (share, zero, highest))
    for half, table in enumerate((e.pointer(low), e.pointer(high))):
        for i in range(0, 128, ROWS):
            real = b.fmul(e.load(table, _SUMS, 4 * i), share)
            whole = b.fptosi(b.fadd(real, e.splat(e.const(BELOW_HALF, f32), ROWS)), _WORDS)
            found = e.smin(b.add(whole, zero), highest)
            e.store(b.trunc(found, vector(i8, ROWS)), results, 128 * half + i)


table_results: Any = microkernel("table_results", [int64] * 3 + [float32] + [int32] * 2, _emit_results)
"""table_results(results, low, high, share, zero, highest): the bytes [256] that table values come to.

The first 128 are of the float32 [128] at low, the others of those at high: times share, rounded to the
nearest, halves upwards, plus zero, at most highest.
"""
