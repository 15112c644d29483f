"""8-bit microkernels: the rows of a matrix product swept one panel of packed weights at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import int64

from .dot_block_q8 import dot_for
from .dot_q8 import Tiling, by_spans, for_each_form, header_rows
from .language.dot_forms import DotForm
from .language.panel_columns import PANEL_COLUMNS
from .language.simd import Emitter, Value, i32, i64, microkernel
from .matrix_tile_q8 import Operands, multiply_matrices
from .next_panel import NextPanel


def sweep(
    e: Emitter, heights: tuple[int, ...], count: Value, emit_tile: Callable[[Value, int], None]
) -> None:
    """Cover rows 0 to count - 1 with emit_tile(first row, height).

    The last tile of a height is moved back over rows that are done already, where that saves
    more than one lower tile.
    """
    b = e.builder
    m = e.const(0)
    for height, lower in zip(heights, (*heights[1:], 0), strict=True):
        left = b.sub(b.sub(count, m), e.const(lower))
        tiles = b.sdiv(b.add(left, e.const(height - 1)), e.const(height))
        fits = b.icmp_signed(">=", count, e.const(height))
        tiles = b.select(b.and_(fits, b.icmp_signed(">", left, e.const(0))), tiles, e.const(0))
        last = b.sub(count, e.const(height))

        def body(_: Value, carried: list[Value], height: int = height, last: Value = last) -> list[Value]:
            (m,) = carried
            emit_tile(e.smin(m, last), height)
            return [b.add(m, e.const(height))]

        (m,) = e.loop(tiles, [m], body)


def _high(tiling: Tiling) -> int:
    """The height of tiles that bring the next panel near, 0 where no panel comes after."""
    return tiling.heights[0] if tiling.width == PANEL_COLUMNS else 0


def _times(e: Emitter, value: Value, factor: int) -> Value:
    return e.builder.mul(value, e.const(factor))


def direct_panel(tiling: Tiling, rounding: int, with_sums: bool) -> Any:
    """(x, ldx, w, y, ldy, count, steps, columns, output, sums): count rows of one panel.

    Row m of x starts ldx * m bytes on and is read in `steps` groups of four bytes. With sums,
    int32 sums[m] is added to all columns of row m.
    """

    def emit(
        e: Emitter,
        x: Value,
        ldx: Value,
        w: Value,
        y: Value,
        ldy: Value,
        count: Value,
        steps: Value,
        columns: Value,
        output: Value,
        sums: Value,
    ) -> None:
        b = e.builder
        x, w, y, output, sums = (e.pointer(v) for v in (x, w, y, output, sums))

        def in_form(form: DotForm) -> None:
            dot = dot_for(e, tiling, rounding, form, w, output)
            if form.matrix:
                multiply_matrices(e, dot, Operands(x, ldx, w, y, ldy, count, steps, columns, sums), with_sums)
                return
            first = e.offset(w, header_rows(rounding) * dot.step_bytes)
            following = NextPanel(e, _high(tiling), count, first, e.const(dot.step_bytes), steps)

            def emit_tile(m: Value, height: int) -> None:
                start = e.offset(x, b.mul(m, ldx))
                rows = [e.offset(start, _times(e, ldx, i)) for i in range(height)]
                row_sums = e.offset(sums, _times(e, m, dot.row_bytes)) if with_sums else None
                beside = following.bring(m, height)
                acc = dot.sum_steps(rows, first, steps, dot.start(height, row_sums), beside)
                out = dot.finish(acc, height, row_sums)
                dot.store(out, e.offset(y, b.mul(m, ldy)), ldy, columns)

            sweep(e, tiling.heights, count, emit_tile)

        for_each_form(e, rounding, output, in_form, of_tiles=True)

    return microkernel(f"direct_q8_{tiling.width}_{rounding}_{with_sums}", [int64] * 10, emit)


def indirect_panel(tiling: Tiling, rounding: int, with_sums: bool) -> Any:
    """(x, padding, table, taps, w, y, ldy, count, steps, columns, output, sums).

    Row m is made of `taps` runs of 4 * steps bytes; run s starts at x + table[m, s], or is the
    padding where that is negative. table is int32 [count, taps].
    """

    def emit(
        e: Emitter,
        x: Value,
        padding: Value,
        table: Value,
        taps: Value,
        w: Value,
        y: Value,
        ldy: Value,
        count: Value,
        steps: Value,
        columns: Value,
        output: Value,
        sums: Value,
    ) -> None:
        b = e.builder
        table, w, y, output, sums = (e.pointer(v) for v in (table, w, y, output, sums))
        table_row = _times(e, taps, 4)

        def in_form(form: DotForm) -> None:
            dot = dot_for(e, tiling, rounding, form, w, output, shared=True)
            first = e.offset(w, header_rows(rounding) * dot.step_bytes)
            tap_bytes = _times(e, steps, dot.step_bytes)
            all_steps, step_bytes = b.mul(taps, steps), e.const(dot.step_bytes)
            following = NextPanel(e, _high(tiling), count, first, step_bytes, all_steps)

            def emit_tile(m: Value, height: int) -> None:
                start = e.offset(table, b.mul(m, table_row))
                row_sums = e.offset(sums, _times(e, m, dot.row_bytes)) if with_sums else None

                def tap(s: Value, acc: list[Value]) -> list[Value]:
                    at = e.offset(start, _times(e, s, 4))
                    rows = []
                    for i in range(height):
                        offset = b.sext(e.load(e.offset(at, _times(e, table_row, i)), i32), i64)
                        outside = b.icmp_signed("<", offset, e.const(0))
                        rows.append(e.pointer(b.select(outside, padding, b.add(x, offset))))
                    beside = following.bring(m, height, b.mul(s, steps))
                    return dot.sum_steps(rows, e.offset(first, b.mul(s, tap_bytes)), steps, acc, beside)

                acc = e.loop(taps, dot.start(height, row_sums), tap)
                out = dot.finish(acc, height, row_sums)
                dot.store(out, e.offset(y, b.mul(m, ldy)), ldy, columns)

            sweep(e, tiling.heights, count, emit_tile)

        for_each_form(e, rounding, output, in_form, True, lambda form: not form.matrix)

    return microkernel(f"indirect_q8_{tiling.width}_{rounding}_{with_sums}", [int64] * 12, emit)


def vector_panels(tiling: Tiling, panels: int, unroll: int, rounding: int, with_sums: bool) -> Any:
    """(x, w, panel_bytes, y, steps, columns, output, sums): one row times neighbouring panels.

    A single row needs several accumulators to keep the multipliers busy: those of `panels`
    panels, or of `unroll` steps that are added up in the end.
    """

    def emit(
        e: Emitter,
        x: Value,
        w: Value,
        panel_bytes: Value,
        y: Value,
        steps: Value,
        columns: Value,
        output: Value,
        sums: Value,
    ) -> None:
        b = e.builder
        x, w, y, output, sums = (e.pointer(v) for v in (x, w, y, output, sums))

        def in_form(form: DotForm) -> None:
            dots = [
                dot_for(e, tiling, rounding, form, e.offset(w, _times(e, panel_bytes, p)), output)
                for p in range(panels)
            ]
            header = header_rows(rounding) * dots[0].step_bytes
            firsts = [e.offset(dot.rows.base, header) for dot in dots]
            starts = [dot.start(1, sums if with_sums else None) for dot in dots]
            count = len(starts[0])

            def advance(k: Value, acc: list[Value], times: int) -> list[Value]:
                out = list(acc)
                together = min(times, form.fours)
                for u in range(0, times, together):
                    ku = b.add(k, e.const(u))
                    at, place = _times(e, ku, 4), _times(e, ku, dots[0].step_bytes)
                    for p, dot in enumerate(dots):
                        i = (u // together * panels + p) * count
                        near = e.offset(firsts[p], place)
                        out[i : i + count] = dot.step([x], at, near, out[i : i + count], together)
                return out

            acc = [v for start in starts for v in start]
            zeros, spans = [e.const(0, v.type) for v in acc], [max(unroll, form.fours), form.fours, 1]
            acc = acc + zeros * (spans[0] // form.fours - 1)
            acc = by_spans(e, sorted(set(spans), reverse=True), steps, acc, advance)
            width = panels * count
            acc = [_added(e, acc[i::width]) for i in range(width)]
            for p, dot in enumerate(dots):
                out = dot.finish(acc[p * count : (p + 1) * count], 1, sums if with_sums else None)
                left = e.smax(b.sub(columns, e.const(p * tiling.step)), e.const(0))
                dot.store(out, e.offset(y, p * tiling.step * dot.element_bytes), e.const(0), left)

        for_each_form(e, rounding, output, in_form)

    name = f"vector_q8_{tiling.width}_{panels}_{unroll}_{rounding}_{with_sums}"
    return microkernel(name, [int64] * 8, emit)


def _added(e: Emitter, values: list[Value]) -> Value:
    while len(values) > 1:
        pairs = [e.builder.add(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + ([values[-1]] if len(values) % 2 else [])
    return values[0]
