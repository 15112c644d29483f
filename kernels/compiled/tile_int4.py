"""Rows of bytes times panels of 4-bit weights that have a scale for each block of the depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

from numba import float32, int64

from ..contraction.blocks import INT4_COLUMNS, INT4_ROW_BYTES
from .dot_q8 import QUANTIZATION_BYTES
from .language.operations import (
    add_unsigned_fours,
    byte_pairs,
    halves_of,
    joined,
    pair_products,
    shuffled_bytes,
)
from .language.simd import Emitter, Value, constant, f32, i8, i16, i32, microkernel, vector
from .language.target import target
from .output_q8 import PartialStore
from .tile_q8 import sweep

_SUMS, _FLOATS, _BYTES = (
    vector(element, lanes) for element, lanes in ((i32, INT4_COLUMNS), (f32, INT4_COLUMNS), (i8, 64))
)


_MANY_SUMS = 8
# A single row waits for its weights, which come sooner when asked for so far ahead.
_AHEAD_BYTES = 8192


def int4_panels(panels: int, heights: tuple[int, ...], scale_bytes: int) -> Any:
    """(x, ldx, w, y, ldy, count, blocks, steps, columns, quantization, bias, low, high).

    count rows times `panels` panels whose rows lie side by side; a block has scales of scale_bytes and
    `steps` groups of eight bytes. Roundings are those of the plain loop, in its order.
    """
    row_bytes = panels * INT4_ROW_BYTES
    scale_row_bytes = row_bytes * scale_bytes // 4

    def emit(e: Emitter, *arguments: Value) -> None:
        b = e.builder
        x, ldx, w, y, ldy, count, blocks, steps, columns = arguments[:9]
        quantization, bias, low, high = arguments[9:]
        x, w, y, quantization = (e.pointer(v) for v in (x, w, y, quantization))
        low, high = e.splat(low, INT4_COLUMNS), e.splat(high, INT4_COLUMNS)
        block_bytes = b.add(b.mul(steps, e.const(row_bytes)), e.const(scale_row_bytes))
        headers = [e.offset(w, p * INT4_ROW_BYTES) for p in range(panels)]
        lefts = [e.smax(b.sub(columns, e.const(p * INT4_COLUMNS)), e.const(0)) for p in range(panels)]
        partial = PartialStore(e, _FLOATS)

        def emit_tile(m: Value, height: int) -> None:
            rows = [e.offset(x, b.mul(b.add(m, e.const(i)), ldx)) for i in range(height)]
            tile = height * panels
            # A low tile needs more sums to keep the multipliers busy: those of either half apart.
            apart = tile if tile < _MANY_SUMS else 0

            def block(k: Value, totals: list[Value]) -> list[Value]:
                at = e.offset(w, b.add(b.mul(k, block_bytes), e.const(row_bytes)))
                first_row = e.offset(at, scale_row_bytes)
                first = b.mul(k, b.shl(steps, e.const(3)))
                zeros = [e.const(0, _SUMS)] * (tile + apart)

                def step(s: Value, acc: list[Value]) -> list[Value]:
                    byte = b.add(first, b.shl(s, e.const(3)))
                    place = e.offset(first_row, b.mul(s, e.const(row_bytes)))
                    if heights[0] == 1 and (target().vnni or _adds_pairs()):
                        for p in range(panels):
                            e.prefetch(e.offset(place, _AHEAD_BYTES + p * INT4_ROW_BYTES))
                    weights = [halves(e, e.load(place, _SUMS, p * INT4_ROW_BYTES)) for p in range(panels)]
                    return add_products(e, acc, [e.offset(row, byte) for row in rows], weights, apart)

                acc = e.loop(steps, zeros, step)
                scales = [read_scales(e, at, p, scale_bytes) for p in range(panels)]
                out = []
                for i, total in enumerate(totals):
                    sums = whole_sums(e, b.add(acc[i], acc[apart + i]) if apart else acc[i])
                    out.append(b.fadd(total, b.fmul(b.sitofp(sums, _FLOATS), scales[i % panels])))
                return out

            totals = e.loop(blocks, [e.const(0.0, _FLOATS)] * tile, block)
            for p, (header, left) in enumerate(zip(headers, lefts, strict=True)):
                weight_sums = e.load(header, _FLOATS)
                mask = e.first_lanes(INT4_COLUMNS, left)
                place = e.pointer(b.add(bias, e.const(p * INT4_ROW_BYTES)))
                biases = e.masked_load(place, _FLOATS, mask)
                for i in range(height):
                    row = b.add(m, e.const(i))
                    how = e.offset(quantization, b.mul(row, e.const(QUANTIZATION_BYTES)))
                    zero_point = b.sitofp(e.load_splat(how, i32, INT4_COLUMNS), _FLOATS)
                    scale = e.load_splat(how, f32, INT4_COLUMNS, 4)
                    total = b.fsub(totals[i * panels + p], b.fmul(zero_point, weight_sums))
                    value = e.clamp(b.fadd(b.fmul(total, scale), biases), low, high)
                    at = e.offset(y, b.add(b.mul(row, ldy), e.const(p * INT4_ROW_BYTES)))
                    partial.store([value], [at], left)

        sweep(e, heights, count, emit_tile)

    return microkernel(f"int4_{panels}_{heights[0]}_{scale_bytes}", [int64] * 11 + [float32] * 2, emit)


def int4_channels(panels: int) -> Any:
    """(x, x_sum, w, y, steps, columns, quantization, bias, low, high): one row times panels side by side.

    A panel has a row of sums of weights (int32), one of scales, and `steps` groups of eight weights, which
    have 8 added; x_sum is the sum of x's bytes. Roundings are those of hybrid products of bytes (dot_q8.py).
    """
    row_bytes = panels * INT4_ROW_BYTES

    def emit(e: Emitter, *arguments: Value) -> None:
        b = e.builder
        x, x_sum, w, y, steps, columns, quantization, bias, low, high = arguments
        x, w, y, quantization, bias = (e.pointer(v) for v in (x, w, y, quantization, bias))
        low, high = e.splat(low, INT4_COLUMNS), e.splat(high, INT4_COLUMNS)
        partial = PartialStore(e, _FLOATS)

        def groups(count: int) -> Callable[[Value, list[Value]], list[Value]]:
            def step(s: Value, acc: list[Value]) -> list[Value]:
                place = e.offset(w, b.mul(b.add(s, e.const(2)), e.const(row_bytes)))
                rows = [e.offset(place, row_bytes * group) for group in range(count)]
                if target().vnni or _adds_pairs():
                    for row in rows:
                        for p in range(panels):
                            e.prefetch(e.offset(row, _AHEAD_BYTES + p * INT4_ROW_BYTES))
                return add_raised(e, acc, e.offset(x, b.shl(s, e.const(3))), rows, panels)

            return step

        even = b.and_(steps, e.const(-2))
        acc = e.loop(even, [e.const(0, _SUMS)] * (2 * panels), groups(2), step=2)
        acc = e.loop(steps, acc, groups(1), start=even)
        raised = e.splat(b.trunc(b.shl(x_sum, e.const(3)), i32), INT4_COLUMNS)
        zero_point, scale = (
            e.load_splat(quantization, i32, INT4_COLUMNS),
            e.load_splat(quantization, f32, INT4_COLUMNS, 4),
        )
        for p in range(panels):
            at, left = p * INT4_ROW_BYTES, e.smax(b.sub(columns, e.const(p * INT4_COLUMNS)), e.const(0))
            sums = b.sub(b.add(acc[p], acc[panels + p]), raised)
            centred = b.sub(sums, b.mul(e.load(w, _SUMS, at), zero_point))
            scaled = b.fmul(b.sitofp(centred, _FLOATS), scale)
            mask = e.first_lanes(INT4_COLUMNS, left)
            biases = e.masked_load(e.offset(bias, at), _FLOATS, mask)
            value = e.multiply_add(scaled, e.load(w, _FLOATS, row_bytes + at), biases)
            partial.store([e.clamp(value, low, high)], [e.offset(y, at)], left)

    return microkernel(f"int4_channels_{panels}", [int64] * 8 + [float32] * 2, emit)


def read_scales(e: Emitter, at: Value, panel: int, scale_bytes: int) -> Value:
    """A panel's scales, float32 or, in 2 bytes, bfloat16."""
    place = e.offset(at, panel * scale_bytes * INT4_COLUMNS)
    if scale_bytes == 4:
        return e.load(place, _FLOATS)
    bits = e.builder.zext(e.load(place, vector(i16, INT4_COLUMNS)), _SUMS)
    return e.builder.bitcast(e.builder.shl(bits, e.const(16, _SUMS)), _FLOATS)


def _adds_pairs() -> bool:
    """Whether four products of a byte by 4 bits are added in 16 bits, where nothing adds bytes' at once."""
    return target().traits.dot == "pmaddubsw"


def halves(e: Emitter, packed: Value) -> list[Value]:
    """The weights in the low and in the high halves of bytes, 16 times as large but where pairs are added."""
    b = e.builder
    if _adds_pairs():
        table, places = constant(vector(i8, 16), [*range(8), *range(-8, 0)]), _unsigned_halves(e, packed)
        return [joined(e, [shuffled_bytes(e, table, part) for part in halves_of(e, at)]) for at in places]
    mask = e.const(0xF0, _BYTES)
    low = b.bitcast(b.shl(packed, e.const(4, _SUMS)), _BYTES)
    return [b.and_(low, mask), b.and_(b.bitcast(packed, _BYTES), mask)]


def whole_sums(e: Emitter, sums: Value) -> Value:
    """Sums of products with weights as `halves` has them."""
    return sums if _adds_pairs() else e.builder.ashr(sums, e.const(4, _SUMS))


def add_products(
    e: Emitter, acc: Sequence[Value], rows: Sequence[Value], weights: Sequence[Sequence[Value]], apart: int
) -> list[Value]:
    """acc plus eight bytes of each row times each panel's weights; sums of high halves lie `apart` on."""
    b = e.builder
    out = list(acc)
    if _adds_pairs():
        for m, row in enumerate(rows):
            xs = [b.bitcast(e.load_splat(row, i32, 8, 4 * half), vector(i8, 32)) for half in range(2)]
            for i, panel in enumerate(weights, m * len(weights)):
                out[i] = b.add(out[i], _sums_in_words(e, xs, panel))
        return out
    for half in range(2):
        for m, row in enumerate(rows):
            x = b.bitcast(e.load_splat(row, i32, INT4_COLUMNS, 4 * half), _BYTES)
            for i, panel in enumerate(weights, half * apart + m * len(weights)):
                out[i] = add_unsigned_fours(e, out[i], x, panel[half])
    return out


def add_raised(e: Emitter, acc: Sequence[Value], x: Value, rows: Sequence[Value], panels: int) -> list[Value]:
    """acc plus eight bytes of x for each row of panels times its weights, 0 to 15."""
    b, out = e.builder, list(acc)
    columns = 8 if _adds_pairs() else INT4_COLUMNS
    fours = [e.load_splat(x, i32, columns, 4 * at) for at in range(2 * len(rows))]
    xs = [b.bitcast(each, vector(i8, 4 * columns)) for each in fours]
    for p in range(panels):
        parts = [part for row in rows for part in _unsigned_halves(e, e.load(row, _SUMS, p * INT4_ROW_BYTES))]
        if _adds_pairs():
            out[p] = b.add(out[p], _sums_in_words(e, xs, parts))
            continue
        for at, part in enumerate(parts):
            place = p + panels * (at % 2)
            out[place] = add_unsigned_fours(e, out[place], xs[at], part)
    return out


def _unsigned_halves(e: Emitter, packed: Value) -> list[Value]:
    """The low and the high halves of bytes, 0 to 15 each."""
    b, mask = e.builder, e.const(15, _BYTES)
    high = b.bitcast(b.lshr(packed, e.const(4, _SUMS)), _BYTES)
    return [b.and_(b.bitcast(packed, _BYTES), mask), b.and_(high, mask)]


def _sums_in_words(e: Emitter, xs: Sequence[Value], weights: Sequence[Value]) -> Value:
    """Sums of the products of each four bytes of x and weights, the low halves' and the high ones'.

    Within 16 bits lie the sums of four products, of eight where weights are 0 to 15.
    """
    words, sums = vector(i16, 16), []
    for parts in zip(*(halves_of(e, weight) for weight in weights), strict=True):
        pairs = [byte_pairs(e, x, w) for x, w in zip(xs, parts, strict=True)]
        sums.append(pair_products(e, reduce(e.builder.add, pairs), e.const(1, words)))
    return joined(e, sums)
