"""Rows of bytes times packed weights, in registers: the inner products of 8-bit matrix code.

A step takes four bytes of each row. Weights of a step are four signed bytes for each column.
Bytes of x are made unsigned first (xor with the OUTPUT block's flip).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..contraction.blocks import (
    BIAS_ROW,
    FIXED_HEADER,
    FLOAT_HEADER,
    HIGH_FLOAT,
    HYBRID_BIAS_ROW,
    HYBRID_HEADER,
    HYBRID_SCALE_ROW,
    LOW_FLOAT,
    NARROW_COLUMNS,
    PANEL_COLUMNS,
    WEIGHT_SUM_ROW,
)
from ..requantize import FLOAT_ROUNDING, HYBRID
from .language.simd import Emitter, Value, f32, i8, i16, i32, vector
from .language.target import target
from .output_q8 import (
    ChannelRows,
    PartialStore,
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


def tilings() -> tuple[Tiling, Tiling]:
    """Tilings of wide and of narrow panels that fill the processor's registers without spilling."""
    if target().vnni:
        return (
            Tiling(PANEL_COLUMNS, PANEL_COLUMNS, (14, 7, 4, 1), 2),
            Tiling(NARROW_COLUMNS, NARROW_COLUMNS, (14, 7, 4, 1), 4),
        )
    heights = (5, 2, 1) if target().avx2 else (2, 1)
    return Tiling(PANEL_COLUMNS, 8, heights, 2), Tiling(NARROW_COLUMNS, 8, heights, 2)


def header_rows(rounding: int) -> int:
    if rounding == HYBRID:
        return HYBRID_HEADER
    return FLOAT_HEADER if rounding == FLOAT_ROUNDING else FIXED_HEADER


# What a kernel is told about each row: its sum (int32), or how it was quantized (a zero point,
# int32, and a scale, float32).
SUM_BYTES, QUANTIZATION_BYTES = 4, 8


class Dot:
    """Emits one tile of `height` rows: start, then step after step, then finish."""

    def __init__(
        self, e: Emitter, tiling: Tiling, rounding: int, w: Value, output: Value, shared: bool = False
    ) -> None:
        self.e, self.tiling, self.rounding, self.output = e, tiling, rounding, output
        self.step_bytes = 4 * tiling.width
        self.vnni = target().vnni
        self.lanes = 16 if self.vnni else 8 if target().avx2 else 4
        self.hybrid = rounding == HYBRID
        # Rows of one image share their quantization.
        self.row_bytes = (0 if shared else QUANTIZATION_BYTES) if self.hybrid else SUM_BYTES
        self.element_bytes = 4 if self.hybrid else 1
        piece = vector(f32, 16 if self.vnni else 8) if self.hybrid else vector(i8, tiling.step)
        self.partial = PartialStore(e, piece)
        if self.vnni:
            self.starts = [64 * j for j in range(tiling.step // 16)]
        else:
            # Channels in the order of their columns: see gemm_q8.COLUMN_ORDER.
            self.starts = [0, 64 if tiling.width == PANEL_COLUMNS else 16]
        self.rows = ChannelRows(e, w, 4 * tiling.width, self.starts)
        self.flip = flip_bytes(e, output, vector(i32, 16 if self.vnni else self.lanes // 2))

    # --- the sums
    def start(self, height: int, sums: Value | None) -> list[Value]:
        """Accumulators of a tile: bias (and each row's own term), or zeros that finish adds them to."""
        e, b = self.e, self.e.builder
        if not self.vnni:
            vectors = 32 // self.lanes // 2
            return [e.const(0, vector(i32, self.lanes))] * (vectors * height)
        if self.hybrid:
            return [e.const(0, vector(i32, 16))] * (len(self.starts) * height)
        bias = self.rows.read(BIAS_ROW, i32, 16)
        if sums is None:
            return bias * height
        return [b.add(v, e.load_splat(sums, i32, 16, 4 * m)) for m in range(height) for v in bias]

    def step(self, rows: Sequence[Value], at: Value, w: Value, acc: Sequence[Value]) -> list[Value]:
        """acc plus four bytes of each row (at byte `at`) times one step of weights."""
        if self.vnni:
            return self._step_vnni(rows, at, w, list(acc))
        return self._step_pairs(rows, at, w, list(acc))

    def _step_vnni(self, rows: Sequence[Value], at: Value, w: Value, acc: list[Value]) -> list[Value]:
        e, b = self.e, self.e.builder
        quads = vector(i8, 64)
        weights = [e.load(w, quads, start) for start in self.starts]
        for m, row in enumerate(rows):
            x = b.bitcast(b.xor(e.load_splat(e.offset(row, at), i32, 16), self.flip), quads)
            for j, weight in enumerate(weights, m * len(weights)):
                acc[j] = e.call("llvm.x86.avx512.vpdpbusd.512", acc[j].type, acc[j], x, weight)
        return acc

    def _step_pairs(self, rows: Sequence[Value], at: Value, w: Value, acc: list[Value]) -> list[Value]:
        """Each lane of an accumulator sums one half of a column's four products."""
        e, b = self.e, self.e.builder
        halves = 2 * self.lanes
        vectors = 32 // self.lanes // 2
        per_start = vectors // 2
        weights = [
            b.sext(e.load(w, vector(i8, halves), start + k * halves), vector(i16, halves))
            for start in self.starts
            for k in range(per_start)
        ]
        for m, row in enumerate(rows):
            fours = b.xor(e.load_splat(e.offset(row, at), i32, halves // 4), self.flip)
            x = b.zext(b.bitcast(fours, vector(i8, halves)), vector(i16, halves))
            for j, weight in enumerate(weights, m * vectors):
                acc[j] = b.add(acc[j], pair_products(e, x, weight))
        return acc

    def finish(self, acc: Sequence[Value], height: int, sums: Value | None) -> list[list[Value]]:
        """The rows' outputs, in pieces of the partial store's type."""
        if self.hybrid:
            return self._floats(acc, height, sums)
        e, b = self.e, self.e.builder
        channel = {
            row: self.rows.read(row, element, 16 if self.vnni else 4)
            for row, element in rounding_rows(self.rounding).items()
        }
        if self.vnni:
            return self._bytes_vnni(acc, height, channel)
        bias = _joined(e, self.rows.read(BIAS_ROW, i32, 4))
        joined = {row: _joined(e, parts) for row, parts in channel.items()}
        out = []
        for m, total in enumerate(self._totals(acc, height)):
            total = b.add(total, bias)
            if sums is not None:
                total = b.add(total, e.load_splat(sums, i32, 8, 4 * m))
            out.append([self._bytes_narrow(total, joined)])
        return out

    def store(self, out: list[list[Value]], y: Value, ldy: Value, columns: Value) -> None:
        """Store the first `columns` outputs of each row; rows lie ldy bytes apart."""
        e, b = self.e, self.e.builder
        lanes = self.partial.type.count
        for p in range(len(out[0])):
            start = e.offset(y, p * lanes * self.element_bytes)
            places = [e.offset(start, b.mul(ldy, e.const(m))) for m in range(len(out))]
            left = e.smax(b.sub(columns, e.const(p * lanes)), e.const(0))
            self.partial.store([pieces[p] for pieces in out], places, left)

    def _totals(self, acc: Sequence[Value], height: int) -> list[Value]:
        """Where lanes hold halves: <8 x i32> of each row."""
        vectors = len(acc) // height
        return [_halves_summed(self.e, acc[m * vectors : (m + 1) * vectors]) for m in range(height)]

    def _floats(self, acc: Sequence[Value], height: int, rows: Value) -> list[list[Value]]:
        """(sum - zero point * sum of weights) * row scale * channel scale + bias, clamped."""
        e, b = self.e, self.e.builder
        lanes = 16 if self.vnni else 4
        kinds = ((WEIGHT_SUM_ROW, i32), (HYBRID_SCALE_ROW, f32), (HYBRID_BIAS_ROW, f32))
        header = [self.rows.read(row, kind, lanes) for row, kind in kinds]
        if not self.vnni:
            header = [[_joined(e, parts)] for parts in header]
            acc, lanes = self._totals(acc, height), 8
        count = len(header[0])
        low, high = (e.load(self.output, vector(f32, lanes), at) for at in (LOW_FLOAT, HIGH_FLOAT))
        out = []
        for m in range(height):
            zero_point = e.load_splat(rows, i32, lanes, self.row_bytes * m)
            row_scale = e.load_splat(rows, f32, lanes, self.row_bytes * m + 4)
            pieces = []
            for j, (total, scale, bias) in enumerate(zip(*header, strict=True)):
                centred = b.sub(acc[m * count + j], b.mul(total, zero_point))
                scaled = b.fmul(b.sitofp(centred, vector(f32, lanes)), row_scale)
                pieces.append(e.clamp(e.multiply_add(scaled, scale, bias), low, high))
            out.append(_in_channel_order(e, pieces))
        return out

    def _bytes_vnni(
        self, acc: Sequence[Value], height: int, channel: dict[int, list[Value]]
    ) -> list[list[Value]]:
        e, count = self.e, len(self.starts)
        out = []
        for m in range(height):
            rounded = []
            for j in range(count):
                rows = {row: parts[j] for row, parts in channel.items()}
                rounded.append(requantized(e, acc[m * count + j], self.rounding, rows, self.output))
            if count == 2:
                out.append([bytes_of_pair(e, rounded[0], rounded[1], self.output)])
            else:
                out.append([bytes_of(e, rounded[0], self.output)])
        return out

    def _bytes_narrow(self, total: Value, rows: dict[int, Value]) -> Value:
        e = self.e
        if target().avx2:
            return bytes_of(e, requantized(e, total, self.rounding, rows, self.output), self.output)
        quarters = []
        for half in (range(4), range(4, 8)):
            four = e.shuffle(total, total, list(half))
            part = {row: e.shuffle(v, v, list(half)) for row, v in rows.items()}
            quarters.append(bytes_of(e, requantized(e, four, self.rounding, part, self.output), self.output))
        return e.shuffle(quarters[0], quarters[1], list(range(8)))


def _in_channel_order(e: Emitter, pieces: list[Value]) -> list[Value]:
    """Undo the order of a wide panel's columns: see gemm_q8.COLUMN_ORDER."""
    if len(pieces) == 1:
        return pieces
    order = [half * 16 + group * 4 + lane for group in range(4) for half in range(2) for lane in range(4)]
    return [e.shuffle(pieces[0], pieces[1], half) for half in (order[:16], order[16:])]


def pair_products(e: Emitter, x: Value, w: Value) -> Value:
    """Sums of neighbouring products of <2n x i16>, as <n x i32>."""
    b, halves = e.builder, x.type.count
    sums = vector(i32, halves // 2)
    if target().avx2 and halves == 16:
        return e.call("llvm.x86.avx2.pmadd.wd", sums, x, w)
    products = b.mul(b.sext(x, vector(i32, halves)), b.sext(w, vector(i32, halves)))
    even = e.shuffle(products, products, list(range(0, halves, 2)))
    odd = e.shuffle(products, products, list(range(1, halves, 2)))
    return b.add(even, odd)


def _joined(e: Emitter, parts: Sequence[Value]) -> Value:
    lanes = parts[0].type.count
    return e.shuffle(parts[0], parts[1], list(range(2 * lanes)))


def _halves_summed(e: Emitter, parts: Sequence[Value]) -> Value:
    """<8 x i32>: neighbouring lanes added, the parts' lanes one after the other."""
    values: list[Any] = list(parts)
    while len(values) > 1:
        values = [_joined(e, values[i : i + 2]) for i in range(0, len(values), 2)]
    (whole,) = values
    even = e.shuffle(whole, whole, list(range(0, 16, 2)))
    odd = e.shuffle(whole, whole, list(range(1, 16, 2)))
    return e.builder.add(even, odd)
