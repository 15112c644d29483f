"""float32 register tiles: microkernels that sweep the rows of a matrix product, one panel at a time.

An accumulator tile of several rows by one or two vectors stays in registers while the depth
runs by. Rows come from a matrix (direct) or through a table of offsets (indirect).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numba import float32, int64

from .language.operations import opaque
from .language.simd import Emitter, Value, f32, i8, i32, i64, microkernel, vector
from .language.target import target
from .next_panel import NextPanel


class Tile(NamedTuple):
    """Vectors side by side, by their lanes; heights lists the rows of a tile, highest first, the last 1."""

    lanes: tuple[int, ...]
    heights: tuple[int, ...]

    @property
    def columns(self) -> int:
        return sum(self.lanes)

    @property
    def types(self) -> list[Any]:
        return [vector(f32, lanes) for lanes in self.lanes]

    @property
    def offsets(self) -> list[int]:
        """Where each vector starts in a row, in bytes."""
        return [4 * sum(self.lanes[:j]) for j in range(len(self.lanes))]

    @property
    def has_all_heights(self) -> bool:
        """Whether rows can be shared out evenly."""
        return self.heights == tuple(range(self.heights[0], 0, -1))

    @property
    def name(self) -> str:
        return "_".join(map(str, self.lanes))


class PanelTiles(NamedTuple):
    """The tiles for a full step of columns, and for at most 24, 16 and 8 columns left over."""

    full: Tile
    left_24: Tile
    left_16: Tile
    left_8: Tile


def panel_tiles() -> PanelTiles:
    """The tiles that fill the processor's vector registers without spilling."""
    if target().avx512:
        return PanelTiles(
            Tile((16, 16), (7, 6, 4, 3, 2, 1)),
            Tile((16, 8), (7, 3, 1)),
            Tile((16,), (14, 7, 3, 1)),
            Tile((8,), (14, 5, 2, 1)),
        )
    if target().avx2:
        full = Tile((8, 8), (6, 5, 4, 3, 2, 1))
        return PanelTiles(full, full, full, Tile((8,), (12, 5, 2, 1)))
    full = Tile((4, 4), (8, 4, 2, 1) if target().traits.registers == 32 else (4, 2, 1))
    return PanelTiles(full, full, full, full)


def multiply_rows(
    e: Emitter,
    tile: Tile,
    rows: Sequence[Value],
    w: Value,
    row_bytes: Value,
    depth: Value | int,
    acc: list[Value],
    beside: Callable[[Value], None] = lambda k: None,
) -> list[Value]:
    """acc += rows [len(rows), depth] @ w [depth, columns]; w's rows lie row_bytes apart.

    Unrolled where depth is a number. Sums are added up in the depth's order. beside(k) emits what
    else each step does.
    """
    b = e.builder

    def four_steps(k: Value, acc: list[Value]) -> list[Value]:
        """Four of each row are loaded together, and multiplied by lane."""
        acc = list(acc)
        k4 = b.mul(k, e.const(4))
        fours = [e.load(e.offset(row, k4), vector(f32, 4)) for row in rows]
        for lane in range(4):
            at = e.offset(w, b.mul(b.add(k, e.const(lane)), row_bytes))
            weights = [
                e.load(at, type_, offset) for type_, offset in zip(tile.types, tile.offsets, strict=True)
            ]
            for m, four in enumerate(fours):
                x = e.shuffle(four, four, [lane] * 4)
                for j, weight in enumerate(weights, m * len(weights)):
                    acc[j] = e.multiply_add(x, weight, acc[j])
        return acc

    def step(k: Value, acc: list[Value]) -> list[Value]:
        acc = list(acc)
        beside(k)
        at = e.offset(w, b.mul(k, row_bytes))
        weights = [e.load(at, type_, offset) for type_, offset in zip(tile.types, tile.offsets, strict=True)]
        k4 = b.mul(k, e.const(4))
        for m, row in enumerate(rows):
            x = e.load(e.offset(row, k4), f32)
            for j, weight in enumerate(weights, m * len(weights)):
                acc[j] = e.multiply_add(e.splat(x, weight.type.count), weight, acc[j])
        return acc

    if isinstance(depth, int):
        for k in range(depth):
            acc = step(e.const(k), acc)
        return acc
    if target().arch != "aarch64":
        return e.loop(depth, acc, step)
    whole = b.and_(depth, e.const(-4))
    # LLVM would add up each row's address anew from the one before, in each step; so each is counted up.
    rows = [opaque(e, row) for row in rows]
    return e.loop(depth, e.loop(whole, acc, four_steps, step=4), step, start=whole)


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
    clamped = clamp_all(e, acc, low, high)
    count = len(tile.lanes)
    starts = [e.offset(c, b.mul(ldc, e.const(m))) for m in range(len(acc) // count)]

    def whole() -> None:
        for m, start in enumerate(starts):
            for j, offset in enumerate(tile.offsets):
                e.store(clamped[m * count + j], start, offset)

    def part() -> None:
        for j, offset in enumerate(tile.offsets):
            left = e.smax(b.sub(columns, e.const(offset // 4)), e.const(0))
            mask = e.first_lanes(tile.lanes[j], left)
            for m, start in enumerate(starts):
                e.masked_store(clamped[m * count + j], e.offset(start, offset), mask)

    e.branch(b.icmp_signed(">=", columns, e.const(tile.columns)), whole, part)


def clamp_all(e: Emitter, values: Sequence[Value], low: Value, high: Value) -> list[Value]:
    """The values within low to high, NaN staying NaN; an infinite end costs no more than a jump.

    Minimum and maximum run on the multiplier's ports of some processors.
    """
    b = e.builder

    def at_least(values: list[Value]) -> list[Value]:
        return [e.fmax(e.splat(low, v.type.count), v) for v in values]

    def at_most(values: list[Value]) -> list[Value]:
        return [e.fmin(e.splat(high, v.type.count), v) for v in values]

    values = e.values_if(b.fcmp_ordered(">", low, e.const(float("-inf"), f32)), at_least, list(values))
    return e.values_if(b.fcmp_ordered("<", high, e.const(float("inf"), f32)), at_most, values)


def sweep(e: Emitter, tile: Tile, count: Value, emit_tile: Callable[[Value, int], None]) -> None:
    """Cover rows 0 to count - 1 with emit_tile(first row, height), high tiles first.

    What is left after high tiles may be too low to keep the multipliers busy. Tiles of all heights share the
    rows evenly; of others two of a lower height take what is left and one high tile, where that comes out.
    """
    b = e.builder
    m = e.const(0)
    shares = _even_shares(e, tile.heights[0], count) if tile.has_all_heights else None
    for i, height in enumerate(tile.heights):

        def body(m: Value, carried: list[Value], height: int = height) -> list[Value]:
            emit_tile(m, height)
            return [b.add(m, e.const(height))]

        if shares is not None:
            last = b.add(m, shares(height))
        else:
            last = b.sub(count, e.const(height - 1))
            for lower in tile.heights[i + 1 :]:
                if height < 2 * lower:
                    is_pair = b.icmp_signed(
                        "==", b.srem(b.sub(count, m), e.const(height)), e.const(2 * lower - height)
                    )
                    last = b.select(is_pair, b.sub(last, e.const(height)), last)
        (m,) = e.loop(last, [m], body, step=height, start=m)


def _even_shares(e: Emitter, highest: int, count: Value) -> Callable[[int], Value]:
    """How many of the rows tiles of a height take, where as few tiles as can be differ by a row at most."""
    b = e.builder
    tiles = e.smax(b.sdiv(b.add(count, e.const(highest - 1)), e.const(highest)), e.const(1))
    low = b.sdiv(count, tiles)
    high_rows = b.mul(b.srem(count, tiles), b.add(low, e.const(1)))

    def rows_of(height: int) -> Value:
        is_low = b.icmp_signed("==", low, e.const(height))
        is_high = b.icmp_signed("==", low, e.const(height - 1))
        return b.select(is_high, high_rows, b.select(is_low, b.sub(count, high_rows), e.const(0)))

    return rows_of


def _next_panel(
    e: Emitter, tile: Tile, rows: Value, first: Value, row_bytes: Value, steps: Value
) -> NextPanel:
    return NextPanel(e, tile.heights[0], rows, first, row_bytes, steps, tile.has_all_heights)


def start_from_bias(e: Emitter, tile: Tile, w: Value, height: int) -> list[Value]:
    bias = [e.load(w, type_, offset) for type_, offset in zip(tile.types, tile.offsets, strict=True)]
    return bias * height


def direct_panel(tile: Tile) -> Any:
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
        following = _next_panel(e, tile, count, first, row_bytes, depth)

        def emit_tile(m: Value, height: int) -> None:
            start = e.offset(a, b.mul(m, lda))
            rows = [e.offset(start, b.mul(lda, e.const(i))) for i in range(height)]
            acc = start_from_bias(e, tile, w, height)
            beside = following.bring(m, height)
            acc = multiply_rows(e, tile, rows, first, row_bytes, depth, acc, beside)
            store_tile(e, tile, acc, e.offset(c, b.mul(m, ldc)), ldc, columns, low, high)

        sweep(e, tile, count, emit_tile)

    return microkernel(f"direct_f32_{tile.name}", [int64] * 9 + [float32] * 2, emit)


def indirect_panel(tile: Tile, fixed_depth: int | None = None) -> Any:
    """(x, zeros, table, taps, w, row_bytes, c, ldc, count, depth, columns, low, high).

    Row m is the concatenation of `taps` runs of depth floats; run s starts at x + 4 *
    table[m, s], or is zeros where that is negative. table is int32 [count, taps]. A depth
    known beforehand, fixed_depth, saves the loop over short runs.
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
        following = _next_panel(e, tile, count, first, row_bytes, b.mul(taps, depth))

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
                weights = e.offset(first, b.mul(s, tap_bytes))
                if fixed_depth is not None:
                    return multiply_rows(e, tile, rows, weights, row_bytes, fixed_depth, acc)
                beside = following.bring(m, height, b.mul(s, depth))
                return multiply_rows(e, tile, rows, weights, row_bytes, depth, acc, beside)

            acc = e.loop(taps, start_from_bias(e, tile, w, height), tap)
            store_tile(e, tile, acc, e.offset(c, b.mul(m, ldc)), ldc, columns, low, high)

        sweep(e, tile, count, emit_tile)

    return microkernel(f"indirect_f32_{tile.name}_{fixed_depth}", [int64] * 11 + [float32] * 2, emit)


def vector_panel(tile: Tile, splits: int = 4) -> Any:
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
        count = len(tile.lanes)

        def steps(k: Value, acc: list[Value], unroll: int) -> list[Value]:
            acc = list(acc)
            for u in range(unroll):
                ku = b.add(k, e.const(u))
                at = e.offset(first, b.mul(ku, row_bytes))
                value = e.load(e.offset(x, b.mul(ku, e.const(4))), f32)
                for j, offset in enumerate(tile.offsets):
                    weight = e.load(at, tile.types[j], offset)
                    i = u * count + j
                    acc[i] = e.multiply_add(e.splat(value, tile.lanes[j]), weight, acc[i])
            return acc

        zeros = [e.const(0.0, type_) for type_ in tile.types] * (splits - 1)
        acc = start_from_bias(e, tile, w, 1) + zeros
        whole = b.and_(depth, e.const(-splits))
        acc = e.loop(whole, acc, lambda k, acc: steps(k, acc, splits), step=splits)
        acc = e.loop(depth, acc, lambda k, acc: steps(k, acc, 1), start=whole)
        while len(acc) > count:
            half = len(acc) // 2
            acc = [b.fadd(acc[i], acc[i + half]) for i in range(half)]
        store_tile(e, tile, acc, y, e.const(0), columns, low, high)

    return microkernel(f"vector_f32_{tile.name}", [int64] * 6 + [float32] * 2, emit)
