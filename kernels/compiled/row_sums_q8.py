"""Sums of the bytes of each row of x, for weights whose zero point does not fit into int8.

Sixteen rows at a time, so that their sums are added up across lanes together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import int64

from .language.operations import add_bytes
from .language.simd import Emitter, Value, i8, i32, i64, microkernel, vector

_ROWS = 16
_BYTES, _SUMS = vector(i8, 64), vector(i32, 16)

# Gives the rows' starts: (first row, tap) -> addresses.
_Starts = Callable[[Value, Value], list[Value]]


def direct_sums() -> Any:
    """(x, stride, count, depth, factor, output, sums): int32 sums[m] = factor * sum of depth bytes.

    Row m starts at x + m * stride; its bytes are made those that the target multiplies first.
    """

    def emit(
        e: Emitter,
        x: Value,
        stride: Value,
        count: Value,
        depth: Value,
        factor: Value,
        output: Value,
        sums: Value,
    ) -> None:
        b = e.builder
        last = b.sub(count, e.const(1))

        def starts(m: Value, _: Value) -> list[Value]:
            rows = [e.smin(b.add(m, e.const(i)), last) for i in range(_ROWS)]
            return [e.pointer(b.add(x, b.mul(row, stride))) for row in rows]

        _sum_rows(e, starts, e.const(1), count, depth, factor, output, sums)

    return microkernel("direct_sums_q8", [int64] * 7, emit)


def indirect_sums() -> Any:
    """(x, padding, table, taps, count, depth, factor, output, sums): the same for rows of taps.

    Tap s of row m starts at x + table[m, s], or is the padding where that is negative.
    """

    def emit(
        e: Emitter,
        x: Value,
        padding: Value,
        table: Value,
        taps: Value,
        count: Value,
        depth: Value,
        factor: Value,
        output: Value,
        sums: Value,
    ) -> None:
        b = e.builder
        table = e.pointer(table)
        last = b.sub(count, e.const(1))

        def starts(m: Value, s: Value) -> list[Value]:
            out = []
            for i in range(_ROWS):
                row = e.smin(b.add(m, e.const(i)), last)
                place = b.mul(b.add(b.mul(row, taps), s), e.const(4))
                offset = b.sext(e.load(e.offset(table, place), i32), i64)
                outside = b.icmp_signed("<", offset, e.const(0))
                out.append(e.pointer(b.select(outside, padding, b.add(x, offset))))
            return out

        _sum_rows(e, starts, taps, count, depth, factor, output, sums)

    return microkernel("indirect_sums_q8", [int64] * 9, emit)


def _sum_rows(
    e: Emitter,
    starts: _Starts,
    taps: Value,
    count: Value,
    depth: Value,
    factor: Value,
    output: Value,
    sums: Value,
) -> None:
    b = e.builder
    flip = e.load(e.pointer(output), _BYTES)
    sums = e.pointer(sums)
    factors = e.splat(b.trunc(factor, i32), _ROWS)
    whole = b.and_(depth, e.const(-64))
    # Bytes past the end may be read (see OVERREAD_BYTES), and are then left out.
    mask = e.first_lanes(64, b.sub(depth, whole))

    def block(m: Value, _: list[Value]) -> list[Value]:
        def tap(s: Value, acc: list[Value]) -> list[Value]:
            rows = starts(m, s)

            def chunk(k: Value, acc: list[Value]) -> list[Value]:
                loaded = [e.load(e.offset(row, k), _BYTES) for row in rows]
                return [add_bytes(e, v, b.xor(x, flip)) for v, x in zip(acc, loaded, strict=True)]

            acc = e.loop(whole, acc, chunk, step=64)
            rest = [b.xor(e.load(e.offset(row, whole), _BYTES), flip) for row in rows]
            rest = [b.select(mask, x, e.const(0, _BYTES)) for x in rest]
            return [add_bytes(e, v, x) for v, x in zip(acc, rest, strict=True)]

        acc = e.loop(taps, [e.const(0, _SUMS)] * _ROWS, tap)
        totals = b.mul(lane_sums(e, acc), factors)
        place = e.offset(sums, b.mul(m, e.const(4)))
        left = b.sub(count, m)
        e.branch(
            b.icmp_signed(">=", left, e.const(_ROWS)),
            lambda: e.store(totals, place),
            lambda: _store_first(e, totals, place, left),
        )
        return []

    e.loop(count, [], block, step=_ROWS)


def lane_sums(e: Emitter, vectors: list[Value]) -> Value:
    """Lane i is the sum of vector i's lanes."""
    while len(vectors) > 1:
        halved = []
        for first, second in zip(vectors[::2], vectors[1::2], strict=True):
            even = e.shuffle(first, second, list(range(0, 32, 2)))
            odd = e.shuffle(first, second, list(range(1, 32, 2)))
            halved.append(e.builder.add(even, odd))
        vectors = halved
    return vectors[0]


def _store_first(e: Emitter, totals: Value, place: Value, count: Value) -> None:
    """Store the first `count` lanes, one by one."""

    def lane(i: Value, _: list[Value]) -> list[Value]:
        value = e.builder.extract_element(totals, e.builder.trunc(i, i32))
        e.store(value, e.offset(place, e.builder.mul(i, e.const(4))))
        return []

    e.loop(count, [], lane)
