"""float32 register tiles: microkernels that sweep the rows of a matrix product, one panel at a time.

An accumulator tile of several rows by one or two vectors stays in registers while the depth
runs by. Rows come from a matrix (direct) or through a table of offsets (indirect).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numba import float32, int64

from .simd import Emitter, Value, f32, i8, i32, i64, microkernel, vector
from .target import target


class Tile(NamedTuple):
    """vectors of lanes columns each; rows lists the tile heights, highest first, the last being 1."""

    lanes: int
    vectors: int
    rows: tuple[int, ...]

    @property
    def columns(self) -> int:
        return self.lanes * self.vectors


def tiles() -> tuple[Tile, Tile]:
    """The tiles of a wide panel and of a narrow one. More registers than these hold would spill."""
    if target().avx512:
        return Tile(16, 2, (7, 4, 2, 1)), Tile(16, 1, (14, 7, 4, 2, 1))
    if target().avx2:
        tile = Tile(8, 2, (6, 4, 2, 1))
        return tile, tile
    tile = Tile(4, 2, (4, 2, 1))
    return tile, tile


def multiply_rows(
    e: Emitter, tile: Tile, rows: Sequence[Value], w: Value, row_bytes: Value, depth: Value, acc: list[Value]
) -> list[Value]:
    """acc += rows [len(rows), depth] @ w [depth, columns]; w's rows lie row_bytes apart."""
    b = e.builder
    type_ = vector(f32, tile.lanes)

    def step(k: Value, acc: list[Value]) -> list[Value]:
        acc = list(acc)
        at = e.offset(w, b.mul(k, row_bytes))
        weights = [e.load(at, type_, 4 * tile.lanes * j) for j in range(tile.vectors)]
        k4 = b.mul(k, e.const(4))
        for m, row in enumerate(rows):
            x = e.load_splat(e.offset(row, k4), f32, tile.lanes)
            for j, weight in enumerate(weights):
                acc[m * tile.vectors + j] = e.multiply_add(x, weight, acc[m * tile.vectors + j])
        return acc

    return e.loop(depth, acc, step)


def store_tile(
    e: Emitter,
    tile: Tile,
    acc: Sequence[Value],
    c: Value,
    ldc: Value,
    columns: Value,
    low: Value,
    high: Value,
) -> None:
    """Clamp the accumulators and store the first `columns` columns of each row at c, rows ldc bytes apart."""
    b = e.builder
    lows, highs = e.splat(low, tile.lanes), e.splat(high, tile.lanes)
    clamped = [e.clamp(value, lows, highs) for value in acc]
    rows = len(acc) // tile.vectors
    starts = [e.offset(c, b.mul(ldc, e.const(m))) for m in range(rows)]

    def whole() -> None:
        for m in range(rows):
            for j in range(tile.vectors):
                e.store(clamped[m * tile.vectors + j], starts[m], 4 * tile.lanes * j)

    def part() -> None:
        for j in range(tile.vectors):
            left = e.smax(b.sub(columns, e.const(j * tile.lanes)), e.const(0))
            mask = e.first_lanes(tile.lanes, left)
            for m in range(rows):
                at = e.offset(starts[m], 4 * tile.lanes * j)
                e.masked_store(clamped[m * tile.vectors + j], at, mask)

    e.branch(b.icmp_signed(">=", columns, e.const(tile.columns)), whole, part)


def sweep(e: Emitter, tile: Tile, count: Value, emit_tile: Callable[[Value, int], None]) -> None:
    """Cover rows 0 to count - 1 with emit_tile(first row, height), high tiles first."""
    b = e.builder
    m = e.const(0)
    for height in tile.rows:

        def body(m: Value, carried: list[Value], height: int = height) -> list[Value]:
            emit_tile(m, height)
            return [b.add(m, e.const(height))]

        last = b.sub(count, e.const(height - 1))
        (m,) = e.loop(last, [m], body, step=height, start=m)


def start_from_bias(e: Emitter, tile: Tile, w: Value, height: int) -> list[Value]:
    type_ = vector(f32, tile.lanes)
    bias = [e.load(w, type_, 4 * tile.lanes * j) for j in range(tile.vectors)]
    return [bias[j] for _ in range(height) for j in range(tile.vectors)]


def direct_panel(name: str, tile: Tile) -> Any:
    """(a, lda, w, row_bytes, c, ldc, count, depth, columns, low, high): count rows of one panel."""

    def emit(
        e: Emitter,
        a: Value,
        lda: Value,
        w: Value,
        row_bytes: Value,
        c: Value,
        ldc: Value,
        count: Value,
        depth: Value,
        columns: Value,
        low: Value,
        high: Value,
    ) -> None:
        b = e.builder
        a, w, c = e.pointer(a), e.pointer(w), e.pointer(c)
        first = e.offset(w, row_bytes)

        def emit_tile(m: Value, height: int) -> None:
            start = e.offset(a, b.mul(m, lda))
            rows = [e.offset(start, b.mul(lda, e.const(i))) for i in range(height)]
            acc = multiply_rows(e, tile, rows, first, row_bytes, depth, start_from_bias(e, tile, w, height))
            store_tile(e, tile, acc, e.offset(c, b.mul(m, ldc)), ldc, columns, low, high)

        sweep(e, tile, count, emit_tile)

    return microkernel(name, [int64] * 9 + [float32] * 2, emit)


def indirect_panel(name: str, tile: Tile) -> Any:
    """(x, zeros, table, taps, w, row_bytes, c, ldc, count, depth, columns, low, high).

    Row m is the concatenation of `taps` runs of depth floats; run s starts at x + 4 *
    table[m, s], or is zeros where that is negative. table is int32 [count, taps].
    """

    def emit(
        e: Emitter,
        x: Value,
        zeros: Value,
        table: Value,
        taps: Value,
        w: Value,
        row_bytes: Value,
        c: Value,
        ldc: Value,
        count: Value,
        depth: Value,
        columns: Value,
        low: Value,
        high: Value,
    ) -> None:
        b = e.builder
        table, w, c = e.pointer(table), e.pointer(w), e.pointer(c)
        first = e.offset(w, row_bytes)
        table_row = b.mul(taps, e.const(4))
        tap_bytes = b.mul(depth, row_bytes)

        def emit_tile(m: Value, height: int) -> None:
            start = e.offset(table, b.mul(m, table_row))

            def tap(s: Value, acc: list[Value]) -> list[Value]:
                at = e.offset(start, b.mul(s, e.const(4)))
                rows = []
                for i in range(height):
                    offset = b.sext(e.load(e.offset(at, b.mul(table_row, e.const(i))), i32), i64)
                    inside = b.add(x, b.shl(offset, e.const(2)))
                    outside = b.icmp_signed("<", offset, e.const(0))
                    rows.append(b.inttoptr(b.select(outside, zeros, inside), i8.as_pointer()))
                return multiply_rows(
                    e, tile, rows, e.offset(first, b.mul(s, tap_bytes)), row_bytes, depth, acc
                )

            acc = e.loop(taps, start_from_bias(e, tile, w, height), tap)
            store_tile(e, tile, acc, e.offset(c, b.mul(m, ldc)), ldc, columns, low, high)

        sweep(e, tile, count, emit_tile)

    return microkernel(name, [int64] * 11 + [float32] * 2, emit)


def vector_panel(name: str, tile: Tile, splits: int = 4) -> Any:
    """(x, w, row_bytes, y, depth, columns, low, high): one row times one panel.

    The depth is dealt out to `splits` sets of accumulators, which a single row needs to keep
    the multipliers busy.
    """

    def emit(
        e: Emitter,
        x: Value,
        w: Value,
        row_bytes: Value,
        y: Value,
        depth: Value,
        columns: Value,
        low: Value,
        high: Value,
    ) -> None:
        b = e.builder
        x, w, y = e.pointer(x), e.pointer(w), e.pointer(y)
        first = e.offset(w, row_bytes)
        type_ = vector(f32, tile.lanes)

        def steps(k: Value, acc: list[Value], count: int) -> list[Value]:
            acc = list(acc)
            for u in range(count):
                ku = b.add(k, e.const(u))
                at = e.offset(first, b.mul(ku, row_bytes))
                value = e.load_splat(e.offset(x, b.mul(ku, e.const(4))), f32, tile.lanes)
                for j in range(tile.vectors):
                    weight = e.load(at, type_, 4 * tile.lanes * j)
                    i = u * tile.vectors + j
                    acc[i] = e.multiply_add(value, weight, acc[i])
            return acc

        zeros = [e.const(0.0, type_)] * (tile.vectors * (splits - 1))
        acc = start_from_bias(e, tile, w, 1) + zeros
        whole = b.and_(depth, e.const(-splits))
        acc = e.loop(whole, acc, lambda k, acc: steps(k, acc, splits), step=splits)
        acc = e.loop(depth, acc, lambda k, acc: steps(k, acc, 1), start=whole)
        while len(acc) > tile.vectors:
            half = len(acc) // 2
            acc = [b.fadd(acc[i], acc[i + half]) for i in range(half)]
        store_tile(e, tile, acc, y, e.const(0), columns, low, high)

    return microkernel(name, [int64] * 6 + [float32] * 2, emit)
