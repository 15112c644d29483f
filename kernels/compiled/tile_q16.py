"""int16 microkernels: rows, or channels' taps, times pairs of weights, in registers, and what sums become.

Two neighbouring products are added in one instruction; int32 lanes hold the sums of one part of the
depth, float64, which holds all of them exactly, those of several.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from ..contraction.blocks import DEPTHWISE_COLUMNS, PAIR_HEADER_BYTES
from ..requantize import FLOAT64_ROUNDING
from .dot_q8 import Tiling
from .language.operations import add_pair_products
from .language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .language.simd import Emitter, Value, f64, i8, i16, i32, i64, microkernel, vector
from .language.target import target
from .next_panel import NextPanel
from .output_q8 import PartialStore
from .tile_q8 import sweep

_FARTHEST = 65536.0  # what lies further off is no int16


def lanes() -> int:
    """Sums in a vector."""
    return 16 if target().vnni else 8 if target().avx2 else 4


def tilings() -> tuple[Tiling, Tiling]:
    """Tilings of wide and of narrow panels; a single row sums several steps apart."""
    if target().vnni:
        tall = (14, 7, 4, 1)
        return Tiling(PANEL_COLUMNS, 32, tall, 4), Tiling(NARROW_COLUMNS, 16, tall, 8)
    if target().avx2:
        return Tiling(PANEL_COLUMNS, 16, (5, 2, 1), 2), Tiling(NARROW_COLUMNS, 16, (5, 2, 1), 2)
    return Tiling(PANEL_COLUMNS, 8, (2, 1), 2), Tiling(NARROW_COLUMNS, 8, (2, 1), 2)


class _Output:
    """Makes int16 outputs of sums (float64): see packed_q16. bounds are the lowest and highest output."""

    def __init__(self, e: Emitter, rounding: int, bounds: tuple[Value, Value]) -> None:
        self.e, self.rounding = e, rounding
        self.low, self.high = (e.splat(e.builder.trunc(bound, i32), lanes()) for bound in bounds)

    def rounded(self, total: Value, factor: Value, addend: Value) -> Value:
        e, b = self.e, self.e.builder
        if self.rounding == FLOAT64_ROUNDING:
            scaled = b.fmul(b.fadd(total, addend), factor)
            scaled = e.clamp(scaled, e.const(-_FARTHEST, scaled.type), e.const(_FARTHEST, scaled.type))
            half = e.call(f"llvm.copysign.v{lanes()}f64", scaled.type, e.const(0.5, scaled.type), scaled)
            whole = b.fadd(scaled, half)
        else:
            shifted = e.multiply_add(total, factor, addend)
            whole = e.call(f"llvm.floor.v{lanes()}f64", shifted.type, shifted)
        integers = b.fptosi(whole, vector(i32, lanes()))
        return b.trunc(e.smin(e.smax(integers, self.low), self.high), vector(i16, lanes()))


def product_panel(tiling: Tiling, rounding: int) -> Any:
    """(x, ldx, w, column, y, ldy, count, steps, parts, part_steps, columns, lowest, highest).

    count rows, ldx bytes apart, times columns `column` to `column + step` of the panel at w, of which
    the first `columns` are stored. Rows are read in `steps` pairs.
    """
    vectors = tiling.step // lanes()

    def emit(
        e: Emitter,
        x: Value,
        ldx: Value,
        w: Value,
        column: Value,
        y: Value,
        ldy: Value,
        count: Value,
        steps: Value,
        parts: Value,
        part_steps: Value,
        columns: Value,
        lowest: Value,
        highest: Value,
    ) -> None:
        b = e.builder
        x, w, y = (e.pointer(v) for v in (x, w, y))
        output, store = _Output(e, rounding, (lowest, highest)), PartialStore(e, vector(i16, lanes()))
        reals, integers = vector(f64, lanes()), vector(i32, lanes())
        kept = b.alloca(i8, size=e.const(tiling.heights[0] * tiling.step * 8, i32))
        header = e.offset(w, b.mul(column, e.const(8)))
        first = e.offset(w, b.add(b.mul(column, e.const(2)), e.const(tiling.width * PAIR_HEADER_BYTES)))
        scaling = [
            [e.load(header, reals, (row * tiling.width + j * lanes()) * 8) for row in range(2)]
            for j in range(vectors)
        ]
        is_split = b.icmp_signed(">", parts, e.const(1))
        following = NextPanel(e, tiling.heights[0], count, first, e.const(tiling.width * 2), steps)

        def emit_tile(m: Value, height: int) -> None:
            beside = following.bring(m, height)
            start = e.offset(x, b.mul(m, ldx))
            rows = [e.offset(start, b.mul(ldx, e.const(i))) for i in range(height)]
            zeros = [e.const(0, integers)] * (height * vectors)

            def step(k: Value, totals: list[Value]) -> list[Value]:
                beside(k)
                place = e.offset(first, b.mul(k, e.const(tiling.width * 2)))
                totals = list(totals)
                weights = []
                for j in range(vectors):
                    bytes_ = e.load(place, vector(i8, 2 * lanes()), j * lanes() * 2)
                    weights.append(b.sext(bytes_, vector(i16, 2 * lanes())))
                for i, row in enumerate(rows):
                    pair = e.load_splat(e.offset(row, b.mul(k, e.const(4))), i32, lanes())
                    pair = b.bitcast(pair, vector(i16, 2 * lanes()))
                    for j, weight in enumerate(weights, i * vectors):
                        totals[j] = add_pair_products(e, totals[j], pair, weight)
                return totals

            def summed(begin: Value, end: Value) -> list[Value]:
                if height > 1:
                    return e.loop(end, zeros, step, start=begin)
                times = tiling.gemv_steps
                whole = b.add(begin, b.and_(b.sub(end, begin), e.const(-times)))

                def several(k: Value, totals: list[Value]) -> list[Value]:
                    out = []
                    for u in range(times):
                        out += step(b.add(k, e.const(u)), totals[u * vectors : (u + 1) * vectors])
                    return out

                totals = e.loop(whole, zeros * times, several, step=times, start=begin)
                while len(totals) > vectors:
                    half = len(totals) // 2
                    totals = [b.add(p, q) for p, q in zip(totals[:half], totals[half:], strict=True)]
                return e.loop(end, totals, step, start=whole)

            def keep(part: Value, totals: list[Value]) -> None:
                is_first = b.icmp_signed("==", part, e.const(0))
                for j, total in enumerate(totals):
                    before = e.load(kept, reals, j * lanes() * 8)
                    before = b.select(is_first, e.const(0, reals), before)
                    e.store(b.fadd(before, b.sitofp(total, reals)), kept, j * lanes() * 8)

            def one_part(part: Value, _: list[Value]) -> list[Value]:
                begin = b.mul(part, part_steps)
                totals = summed(begin, e.smin(b.add(begin, part_steps), steps))
                goes_on = b.icmp_signed("<", b.add(part, e.const(1)), parts)
                e.branch(goes_on, lambda: keep(part, totals))
                return totals

            totals = e.loop(parts, zeros, one_part)
            finish(totals, m, height)

        def finish(totals: list[Value], m: Value, height: int) -> None:
            start = e.offset(y, b.mul(m, ldy))
            out = []
            for i, total in enumerate(totals):
                real = b.sitofp(total, reals)

                def with_kept(values: list[Value], i: int = i) -> list[Value]:
                    return [b.fadd(values[0], e.load(kept, reals, i * lanes() * 8))]

                (real,) = e.values_if(is_split, with_kept, [real])
                out.append(output.rounded(real, *scaling[i % vectors]))
            for j in range(vectors):
                places = [
                    e.offset(start, b.add(b.mul(ldy, e.const(i)), e.const(j * lanes() * 2)))
                    for i in range(height)
                ]
                left = e.smax(b.sub(columns, e.const(j * lanes())), e.const(0))
                store.store(out[j::vectors], places, left)

        sweep(e, tiling.heights, count, emit_tile)

    return microkernel(f"product_q16_{tiling.width}_{rounding}", [int64] * 13, emit)


def taps_run(rounding: int) -> Any:
    """(taps, x_step, w, pairs, y, y_step, count, channels, lowest, highest): count neighbouring pixels.

    taps are the addresses of 2 * pairs pixels of x; those of the next output are x_step bytes further.
    """
    wide = 2 * lanes()

    def emit(
        e: Emitter,
        taps: Value,
        x_step: Value,
        w: Value,
        pairs: Value,
        y: Value,
        y_step: Value,
        count: Value,
        channels: Value,
        lowest: Value,
        highest: Value,
    ) -> None:
        b = e.builder
        taps, w, y = (e.pointer(v) for v in (taps, w, y))
        output, store = _Output(e, rounding, (lowest, highest)), PartialStore(e, vector(i16, lanes()))
        words, reals, zero = vector(i16, wide), vector(f64, lanes()), e.const(0, vector(i32, lanes()))
        block_bytes = b.mul(
            b.add(b.mul(pairs, e.const(4)), e.const(PAIR_HEADER_BYTES)), e.const(DEPTHWISE_COLUMNS)
        )
        mixed = [lane for k in range(wide) for lane in (k, wide + k)]

        def block(channel: Value, _: list[Value]) -> list[Value]:
            number = b.sdiv(channel, e.const(DEPTHWISE_COLUMNS))
            within = b.sub(channel, b.mul(number, e.const(DEPTHWISE_COLUMNS)))
            base = e.offset(w, b.mul(number, block_bytes))
            header = e.offset(base, b.mul(within, e.const(8)))
            first = e.offset(
                base, b.add(b.mul(within, e.const(4)), e.const(DEPTHWISE_COLUMNS * PAIR_HEADER_BYTES))
            )
            scaling = [
                [e.load(header, reals, (row * DEPTHWISE_COLUMNS + j * lanes()) * 8) for row in range(2)]
                for j in range(2)
            ]
            left = b.sub(channels, channel)

            def pixel(p: Value, _: list[Value]) -> list[Value]:
                at = b.add(b.mul(p, x_step), b.mul(channel, e.const(2)))

                def pair(k: Value, totals: list[Value]) -> list[Value]:
                    place = b.mul(k, e.const(16))
                    sides = [
                        e.load(e.pointer(b.add(e.load(taps, i64, b.add(place, e.const(s))), at)), words)
                        for s in (0, 8)
                    ]
                    row = e.offset(first, b.mul(k, e.const(4 * DEPTHWISE_COLUMNS)))
                    out = []
                    for j, total in enumerate(totals):
                        both = e.shuffle(sides[0], sides[1], mixed[j * wide : (j + 1) * wide])
                        out.append(add_pair_products(e, total, both, e.load(row, words, j * wide * 2)))
                    return out

                totals = e.loop(pairs, [zero, zero], pair)
                to = e.offset(y, b.add(b.mul(p, y_step), b.mul(channel, e.const(2))))
                for j, total in enumerate(totals):
                    value = output.rounded(b.sitofp(total, reals), *scaling[j])
                    rest = e.smax(b.sub(left, e.const(j * lanes())), e.const(0))
                    store.store([value], [e.offset(to, j * lanes() * 2)], rest)
                return []

            e.loop(count, [], pixel)
            return []

        e.loop(channels, [], block, step=wide)

    return microkernel(f"taps_q16_{rounding}", [int64] * 10, emit)
