"""8-bit microkernels where matrices are multiplied as such (AMX): 32 rows by a panel's columns at a time.

Registers 0 to 3 are sums, of two tiles of rows by two of columns; 4 and 5 hold x, 6 and 7 weights, which are
packed as products of single rows want them. Rows are shared out evenly to tiles of at most 16; of the last
ones some are computed twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from numba import int64

from ..contraction.blocks import BIAS_ROW
from .dot_block_q8 import dot_for
from .dot_q8 import Dot, Tiling, by_spans, for_each_form, header_rows
from .language import matrix_registers as registers
from .language.dot_forms import DotForm
from .language.matrix_registers import ROW_BYTES, ROWS, Shape
from .language.simd import Emitter, Value, i8, i32, microkernel, vector

_X, _W = (4, 5), (6, 7)
_FOURS = ROW_BYTES // 4
_LINE = 64  # bytes that a cache takes at once
_TOGETHER = 4  # rows whose outputs are made together


class Operands(NamedTuple):
    """What direct_panel is given: x and y as pointers to rows, w to a panel's header."""

    x: Value
    ldx: Value
    w: Value
    y: Value
    ldy: Value
    count: Value
    steps: Value
    columns: Value
    sums: Value


def matrix_panel(tiling: Tiling, rounding: int, with_sums: bool) -> Any:
    """What tile_q8.direct_panel is, of matrices alone: of rows that share their quantization."""

    def emit(e: Emitter, *arguments: Value) -> None:
        x, ldx, w, y, ldy, count, steps, columns, output, sums = arguments
        x, w, y, output, sums = (e.pointer(v) for v in (x, w, y, output, sums))

        def in_form(form: DotForm) -> None:
            dot = dot_for(e, tiling, rounding, form, w, output, shared=True)
            multiply_matrices(e, dot, Operands(x, ldx, w, y, ldy, count, steps, columns, sums), with_sums)

        for_each_form(e, rounding, output, in_form, True, lambda form: form.matrix)

    return microkernel(f"matrix_q8_{tiling.width}_{rounding}_{with_sums}", [int64] * 10, emit)


def multiply_matrices(e: Emitter, dot: Dot, given: Operands, with_sums: bool) -> None:
    """Emit all rows of a panel."""
    _Panel(e, dot, given, with_sums).emit()


class _Panel:
    """Emits the rows of a panel. A step takes four of the depth, a product of registers 16 steps at most."""

    def __init__(self, e: Emitter, dot: Dot, given: Operands, with_sums: bool) -> None:
        b = e.builder
        self.e, self.dot, self.given, self.with_sums = e, dot, given, with_sums
        self.halves = range(dot.step_bytes // ROW_BYTES)
        self.step_bytes = e.const(dot.step_bytes)
        self.first = e.offset(given.w, header_rows(dot.rounding) * dot.step_bytes)
        self.pairs = b.sdiv(b.add(given.count, e.const(2 * ROWS - 1)), e.const(2 * ROWS))
        tiles = b.shl(self.pairs, e.const(1))
        self.height = b.sdiv(b.add(given.count, b.sub(tiles, e.const(1))), tiles)
        self.fours = e.smax(e.smin(given.steps, e.const(_FOURS)), e.const(1))
        self.whole = b.sdiv(given.steps, self.fours)
        self.done = b.mul(self.whole, self.fours)
        self.has_rest = b.icmp_signed("<", self.done, given.steps)
        self.following = _Following(self)
        room = ROWS * dot.step_bytes
        self.out = e.kept("sums of matrices", lambda: b.alloca(i8, size=e.const(2 * room)))
        self.rest = e.kept("last weights", lambda: b.alloca(i8, size=e.const(room)))

    def emit(self) -> None:
        e, line = self.e, self.e.const(ROW_BYTES)
        sums, x, w = (
            Shape(self.height, line),
            Shape(self.height, e.builder.shl(self.fours, e.const(2))),
            Shape(self.fours, line),
        )
        shapes = {**dict.fromkeys(range(4), sums), **dict.fromkeys(_X, x), **dict.fromkeys(_W, w)}
        registers.configure(e, shapes)
        e.branch(self.has_rest, self._copy_rest)
        self._emit_pairs()
        registers.let_go(e)

    def _copy_rest(self) -> None:
        """The last 16 steps of weights, with zeros instead of those that are multiplied before."""
        e, b, line = self.e, self.e.builder, vector(i8, ROW_BYTES)
        start = b.sub(self.given.steps, e.const(_FOURS))

        def row(k: Value, _: list[Value]) -> list[Value]:
            step, to = b.add(start, k), b.mul(k, self.step_bytes)
            is_done = b.icmp_signed("<", step, self.done)
            for half in self.halves:
                found = e.load(e.offset(self.first, b.mul(step, self.step_bytes)), line, half * ROW_BYTES)
                e.store(b.select(is_done, e.const(0, line), found), e.offset(self.rest, to), half * ROW_BYTES)
            return []

        e.loop(e.const(_FOURS), [], row)

    def _emit_pairs(self) -> None:
        """Outputs of a pair of tiles are made while the next pair's products are under way."""
        e, one = self.e, self.e.const(1)

        def multiply(pair: Value, _: list[Value]) -> list[Value]:
            self._multiply_pair(pair)
            e.branch(e.builder.icmp_signed(">", pair, e.const(0)), lambda: finish_before(pair))
            for register, place in self._places():
                registers.store(e, register, place, self.step_bytes)
            return []

        def finish_before(pair: Value) -> None:
            self._finish_pair(e.builder.sub(pair, one))

        e.loop(self.pairs, [], multiply)
        e.branch(e.builder.icmp_signed(">", self.pairs, e.const(0)), lambda: finish_before(self.pairs))

    def _rows(self, pair: Value) -> list[Value]:
        """The first rows of a pair of tiles."""
        e, b = self.e, self.e.builder
        last = b.sub(self.given.count, self.height)
        begin = b.mul(pair, b.shl(self.height, e.const(1)))
        return [e.smin(begin, last), e.smin(b.add(begin, self.height), last)]

    def _places(self) -> Iterator[tuple[int, Value]]:
        """Where each register's sums go."""
        for tile in range(2):
            for half in self.halves:
                place = tile * ROWS * self.dot.step_bytes + half * ROW_BYTES
                yield 2 * tile + half, self.e.offset(self.out, place)

    def _multiply_pair(self, pair: Value) -> None:
        e, b, given = self.e, self.e.builder, self.given
        x = [e.offset(given.x, b.mul(row, given.ldx)) for row in self._rows(pair)]
        self._start()

        def step(k: Value, _: list[Value]) -> list[Value]:
            at = b.mul(k, self.fours)
            self.following.bring(pair, at)
            self._multiply([e.offset(row, b.shl(at, e.const(2))) for row in x], self.steps_at(at))
            return []

        e.loop(self.whole, [], step)

        def rest() -> None:
            at = b.shl(b.sub(given.steps, e.const(_FOURS)), e.const(2))
            self._multiply([e.offset(row, at) for row in x], self.rest)

        e.branch(self.has_rest, rest)

    def steps_at(self, step: Value) -> Value:
        return self.e.offset(self.first, self.e.builder.mul(step, self.step_bytes))

    def _start(self) -> None:
        """Sums are biases, or zeros."""
        e = self.e
        for tile in range(2):
            for half in self.halves:
                if self.dot.hybrid:
                    registers.clear(e, 2 * tile + half)
                    continue
                place = e.offset(self.given.w, BIAS_ROW * self.dot.step_bytes + half * ROW_BYTES)
                registers.load(e, 2 * tile + half, place, e.const(0))

    def _multiply(self, x: list[Value], w: Value) -> None:
        e, form, stride = self.e, self.dot.form, self.given.ldx
        registers.load(e, _X[0], x[0], stride)
        for half in self.halves:
            registers.load(e, _W[half], e.offset(w, half * ROW_BYTES), self.step_bytes)
            registers.multiply(e, form, half, _X[0], _W[half])
        registers.load(e, _X[1], x[1], stride)
        for half in self.halves:
            registers.multiply(e, form, 2 + half, _X[1], _W[half])

    def _finish_pair(self, pair: Value) -> None:
        """The outputs of a pair of tiles, from the sums that were stored."""
        for tile, row in enumerate(self._rows(pair)):
            sums = self.e.offset(self.out, tile * ROWS * self.dot.step_bytes)

            def some(
                i: Value, _: list[Value], count: int, sums: Value = sums, row: Value = row
            ) -> list[Value]:
                place = self.e.offset(sums, self.e.builder.mul(i, self.step_bytes))
                self._finish(place, self.e.builder.add(row, i), count)
                return []

            by_spans(self.e, [_TOGETHER, 1], self.height, [], some)

    def _finish(self, sums: Value, row: Value, count: int) -> None:
        e, b, dot, given = self.e, self.e.builder, self.dot, self.given
        places = [dot.step_bytes * m + start for m in range(count) for start in dot.starts]
        found = [e.load(sums, vector(i32, dot.lanes), place) for place in places]
        own = e.offset(given.sums, b.mul(row, e.const(dot.row_bytes))) if self.with_sums else None
        if own is not None and not dot.hybrid:
            each = [e.load_splat(own, i32, dot.lanes, dot.row_bytes * m) for m in range(count)]
            found = [b.add(value, each[k // len(dot.starts)]) for k, value in enumerate(found)]
        out = dot.finish(found, count, own)
        dot.store(out, e.offset(given.y, b.mul(row, given.ldy)), given.ldy, given.columns)


class _Following:
    """The next panel, of which a part is brought near in each step (see next_panel).

    It goes to the second-level cache: more lines can be on their way there than to the first.
    """

    def __init__(self, panel: _Panel) -> None:
        e, b = panel.e, panel.e.builder
        self.e, self.step_bytes = e, panel.step_bytes
        lines = b.mul(panel.fours, e.const(len(panel.halves)))
        # Of the lines that lie where a step's weights do, so many for each pair of tiles.
        self.share = b.sdiv(b.add(lines, b.sub(panel.pairs, e.const(1))), panel.pairs)
        self.begin = panel.steps_at(panel.given.steps)

    def bring(self, pair: Value, step: Value) -> None:
        e, b = self.e, self.e.builder
        at = e.offset(self.begin, b.mul(step, self.step_bytes))
        first = e.offset(at, b.mul(b.mul(pair, self.share), e.const(_LINE)))

        def line(i: Value, _: list[Value]) -> list[Value]:
            e.prefetch(e.offset(first, b.mul(i, e.const(_LINE))), near=2)
            return []

        e.loop(self.share, [], line)
