"""Rows of bytes times packed weights, in registers: the inner products of 8-bit matrix code.

A step takes four bytes of each row. Weights of a step are four signed bytes for each column.
Bytes of x are made those that the target multiplies (xor with the OUTPUT block's flip).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..contraction.blocks import (
    BIAS_ROW,
    FIXED_HEADER,
    FLOAT_HEADER,
    FORM,
    HIGH_FLOAT,
    HYBRID_BIAS_ROW,
    HYBRID_HEADER,
    HYBRID_SCALE_ROW,
    LOW_FLOAT,
    MISSING_ROW,
    WEIGHT_SUM_ROW,
)
from ..requantize import FLOAT_ROUNDING, HYBRID
from .language.dot_forms import DotForm, dot_forms, flipped, takes_bytes_of_rows, tiles_are_short
from .language.operations import add_products, joined, prepared_weights
from .language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .language.simd import Emitter, Value, f32, i8, i32, vector
from .language.target import target
from .output_q8 import (
    ChannelRows,
    PartialStore,
    bytes_in_order,
    bytes_of,
    bytes_of_pair,
    flip_bytes,
    requantized,
    rounding_rows,
)


class Tiling(NamedTuple):
    """How a panel of `width` columns is swept: `step` columns by each of the heights, highest first."""

    width: int
    step: int
    heights: tuple[int, ...]
    gemv_steps: int


# Columns and heights of tiles that fill the processor's registers without spilling, by Traits.dot.
_TILES = {
    "pairs": (8, (4, 2, 1)),
    "pmaddubsw": (16, (4, 2, 1)),
    "vnni256": (16, (6, 4, 2, 1)),
    "smull": (8, (4, 2, 1)),
    "sdot": (16, (5, 2, 1)),
    "smmla": (16, (6, 2, 1)),
}


def tilings() -> tuple[Tiling, Tiling]:
    """Tilings of wide and of narrow panels."""
    if target().vnni:
        return (
            Tiling(PANEL_COLUMNS, PANEL_COLUMNS, (14, 7, 4, 1), 2),
            Tiling(NARROW_COLUMNS, NARROW_COLUMNS, (14, 7, 4, 1), 4),
        )
    tile, gemv_steps = _TILES[target().traits.dot], 2 * dot_forms()[0].fours
    return Tiling(PANEL_COLUMNS, *tile, gemv_steps), Tiling(NARROW_COLUMNS, *tile, gemv_steps)


def header_rows(rounding: int) -> int:
    if rounding == HYBRID:
        return HYBRID_HEADER + tiles_are_short()
    return FLOAT_HEADER if rounding == FLOAT_ROUNDING else FIXED_HEADER


def for_each_form(
    e: Emitter,
    rounding: int,
    output: Value,
    emit: Callable[[DotForm], None],
    of_tiles: bool = False,
    wanted: Callable[[DotForm], bool] = lambda form: True,
) -> None:
    """Emit code for each wanted form that operators of this rounding may ask for: OUTPUT blocks choose."""
    found = enumerate(dot_forms(of_tiles))
    forms = [(i, form) for i, form in found if wanted(form)]
    if rounding == HYBRID:
        forms = [(i, form) for i, form in forms if takes_bytes_of_rows(form)]
    if not forms:
        return

    def from_form(k: int) -> None:
        number, form = forms[k]
        if k + 1 == len(forms):
            emit(form)
            return
        asked = e.builder.icmp_signed("==", e.load(output, i8, FORM), e.const(number, i8))
        e.branch(asked, lambda: emit(form), lambda: from_form(k + 1))

    from_form(0)


# What a kernel is told about each row: its sum (int32), or how it was quantized (a zero point,
# int32, and a scale, float32).
SUM_BYTES, QUANTIZATION_BYTES = 4, 8


def by_spans(
    e: Emitter,
    spans: Sequence[int],
    steps: Value,
    acc: list[Value],
    take: Callable[[Value, list[Value], int], list[Value]],
) -> list[Value]:
    """acc after take(k, acc, span) from step k on: as often as it goes by the first span, then by the next.

    Spans are powers of two, the largest first, the last one 1.
    """
    done = None
    for span in spans:

        def body(k: Value, acc: list[Value], span: int = span) -> list[Value]:
            return take(k, acc, span)

        whole = steps if span == 1 else e.builder.and_(steps, e.const(-span))
        acc = e.loop(whole, acc, body, step=span, start=done)
        done = whole
    return acc


class Dot:
    """Emits one tile of `height` rows: start, then its sums, then finish."""

    def __init__(
        self,
        e: Emitter,
        tiling: Tiling,
        rounding: int,
        form: DotForm,
        w: Value,
        output: Value,
        shared: bool = False,
    ) -> None:
        self.e, self.tiling, self.rounding, self.form, self.output = e, tiling, rounding, form, output
        self.step_bytes = 4 * tiling.width
        self.hybrid = rounding == HYBRID
        # Rows of one image share their quantization.
        self.row_bytes = (0 if shared else QUANTIZATION_BYTES) if self.hybrid else SUM_BYTES
        self.element_bytes = 4 if self.hybrid else 1
        # Lanes of a vector of sums, of which there is one at each of these bytes of a row of the panel.
        self.lanes = form.lanes
        self.starts = list(range(0, 4 * tiling.step, 4 * self.lanes))
        self.partial = PartialStore(e, vector(f32, self.lanes) if self.hybrid else vector(i8, tiling.step))
        self.rows = ChannelRows(e, w, self.step_bytes, self.starts)
        self.flip = flip_bytes(e, output, vector(i32, form.columns)) if form.flips else None
        self.has_plain_sums = form.columns == form.lanes

    # --- the sums
    def start(self, height: int, sums: Value | None) -> list[Value]:
        """Accumulators of a tile: bias (and each row's own term), or zeros that finish adds them to."""
        e, b = self.e, self.e.builder
        if self.hybrid and self.form.short:
            return self.rows.read(MISSING_ROW, i32, self.lanes) * height
        if self.hybrid or not self.has_plain_sums:
            vectors = self.tiling.step // self.form.columns * -(-height // self.form.rows)
            return [e.const(0, vector(i32, self.lanes))] * vectors
        bias = self.rows.read(BIAS_ROW, i32, self.lanes)
        if sums is None:
            return bias * height
        return [b.add(v, e.load_splat(sums, i32, self.lanes, 4 * m)) for m in range(height) for v in bias]

    def sum_steps(
        self,
        rows: Sequence[Value],
        w: Value,
        steps: Value,
        acc: list[Value],
        beside: Callable[[Value], None] = lambda k: None,
    ) -> list[Value]:
        """acc plus `steps` steps of each row times the weights at w; beside(k): what else a step does."""
        e, b = self.e, self.e.builder

        def take(k: Value, acc: list[Value], count: int) -> list[Value]:
            beside(k)
            place = e.offset(w, b.mul(k, e.const(self.step_bytes)))
            return self.step(rows, b.mul(k, e.const(4)), place, acc, count)

        return by_spans(e, self.form.spans, steps, acc, take)

    def step(
        self, rows: Sequence[Value], at: Value, w: Value, acc: Sequence[Value], count: int = 1
    ) -> list[Value]:
        """acc plus `count` fours of bytes of each row (from byte `at`) times as many steps of weights."""
        e, columns, out = self.e, self.form.columns, list(acc)
        places = range(0, 4 * self.tiling.step, 4 * columns)
        together = count if self.form.halves else 1
        # Fours that serve one group of weights need not wait in registers.
        ahead = [self._fours(e.offset(row, at), count) for row in rows] if together < count else []
        for k in range(0, count, together):
            steps = range(k, k + together)
            weights = [
                [self._weights_at(w, step * self.step_bytes + place) for step in steps] for place in places
            ]
            for m, row in enumerate(rows):
                x = ahead[m][k : k + together] if ahead else self._fours(e.offset(row, at), count)
                for j, weight in enumerate(weights, m * len(weights)):
                    out[j] = add_products(e, self.form, out[j], x, weight)
        return out

    def _weights_at(self, w: Value, place: int) -> Any:
        e, bytes_ = self.e, vector(i8, 4 * self.form.columns)
        flip = None if self.flip is None else e.builder.bitcast(self.flip, bytes_)
        return prepared_weights(e, self.form, e.load(w, bytes_, place), flip)

    def _fours(self, place: Value, count: int) -> list[Value]:
        """Each of `count` fours of bytes in all columns, as add_products takes them."""
        e, b, columns = self.e, self.e.builder, self.form.columns

        def flipped_(words: Value) -> Value:
            return words if self.flip is None or self.form.short else b.xor(words, self.flip)

        if count == columns:
            whole = flipped_(e.load(place, vector(i32, columns)))
            fours = [e.shuffle(whole, whole, [k] * columns) for k in range(count)]
        else:
            fours = [flipped_(e.load_splat(place, i32, columns, 4 * k)) for k in range(count)]
        return [b.bitcast(four, vector(i8, 4 * columns)) for four in fours]

    def finish(self, acc: Sequence[Value], height: int, sums: Value | None) -> list[list[Value]]:
        """The rows' outputs, in pieces of the partial store's type."""
        totals = self._totals(acc, height, sums)
        if self.hybrid:
            return self._floats(totals, sums)
        channel = {
            row: self.rows.read(row, element, self.lanes)
            for row, element in rounding_rows(self.rounding).items()
        }
        return [[self._bytes(total, channel)] for total in totals]

    def store(self, out: list[list[Value]], y: Value, ldy: Value, columns: Value) -> None:
        """Store the first `columns` outputs of each row; rows lie ldy bytes apart."""
        e, b = self.e, self.e.builder
        lanes = self.partial.type.count
        for p in range(len(out[0])):
            start = e.offset(y, p * lanes * self.element_bytes)
            places = [e.offset(start, b.mul(ldy, e.const(m))) for m in range(len(out))]
            left = e.smax(b.sub(columns, e.const(p * lanes)), e.const(0))
            self.partial.store([pieces[p] for pieces in out], places, left)

    def _totals(self, acc: Sequence[Value], height: int, sums: Value | None) -> list[list[Value]]:
        """Each row's sums, a vector for each of the starts."""
        e, b, rows = self.e, self.e.builder, self._by_rows(acc, height)
        if self.hybrid or self.has_plain_sums:
            return rows
        bias = self.rows.read(BIAS_ROW, i32, self.lanes)
        rows = [[b.add(total, v) for total, v in zip(row, bias, strict=True)] for row in rows]
        if sums is None:
            return rows
        own = [e.load_splat(sums, i32, self.lanes, 4 * m) for m in range(height)]
        return [[b.add(total, v) for total in row] for row, v in zip(rows, own, strict=True)]

    def _by_rows(self, acc: Sequence[Value], height: int) -> list[list[Value]]:
        """Accumulators as each row's sums, one lane for a column."""
        count = len(acc) // height
        rows = [list(acc[m * count : (m + 1) * count]) for m in range(height)]
        if not self.form.halves:
            return rows
        return [[_halves_summed(self.e, row[j : j + 2]) for j in range(0, count, 2)] for row in rows]

    def _floats(self, totals: list[list[Value]], rows: Value) -> list[list[Value]]:
        """(sum - zero point * sum of weights) * row scale * channel scale + bias, clamped."""
        e, b, lanes = self.e, self.e.builder, self.lanes
        kinds = ((WEIGHT_SUM_ROW, i32), (HYBRID_SCALE_ROW, f32), (HYBRID_BIAS_ROW, f32))
        header = [self.rows.read(row, kind, lanes) for row, kind in kinds]
        low, high = (e.load(self.output, vector(f32, lanes), at) for at in (LOW_FLOAT, HIGH_FLOAT))
        out = []
        for m, sums in enumerate(totals):
            zero_point = hybrid_zero_point(e, e.offset(rows, self.row_bytes * m), lanes)
            row_scale = e.load_splat(rows, f32, lanes, self.row_bytes * m + 4)
            pieces = []
            for found, total, scale, bias in zip(sums, *header, strict=True):
                centred = b.sub(found, b.mul(total, zero_point))
                scaled = b.fmul(b.sitofp(centred, vector(f32, lanes)), row_scale)
                pieces.append(e.clamp(e.multiply_add(scaled, scale, bias), low, high))
            out.append(_in_channel_order(e, pieces))
        return out

    def _bytes(self, totals: list[Value], channel: dict[int, list[Value]]) -> Value:
        e = self.e
        rounded = []
        for j, total in enumerate(totals):
            rows = {row: parts[j] for row, parts in channel.items()}
            rounded.append(requantized(e, total, self.rounding, rows, self.output))
        if not target().vnni:
            return bytes_in_order(e, rounded, self.output)
        if len(rounded) == 2:
            return bytes_of_pair(e, rounded[0], rounded[1], self.output)
        return bytes_of(e, rounded[0], self.output)


def hybrid_zero_point(e: Emitter, quantization: Value, lanes: int) -> Value:
    """The zero point of x's unsigned bytes, as the target multiplies them."""
    zero_point = e.load_splat(quantization, i32, lanes)
    offset = flipped(0, is_int8=False)
    return e.builder.add(zero_point, e.const(offset, zero_point.type)) if offset else zero_point


def _in_channel_order(e: Emitter, pieces: list[Value]) -> list[Value]:
    """Undo the order of columns, where there is one: see cutting.column_order."""
    if len(pieces) == 1 or not target().vnni:
        return pieces
    order = [half * 16 + group * 4 + lane for group in range(4) for half in range(2) for lane in range(4)]
    return [e.shuffle(pieces[0], pieces[1], half) for half in (order[:16], order[16:])]


def _halves_summed(e: Emitter, parts: Sequence[Value]) -> Value:
    """Two vectors one behind the other, neighbouring lanes added."""
    whole = joined(e, parts)
    count = whole.type.count
    even, odd = (e.shuffle(whole, whole, list(range(first, count, 2))) for first in (0, 1))
    return e.builder.add(even, odd)
