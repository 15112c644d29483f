"""Rows of bytes times panels of 4-bit weights that have a scale for each block of the depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numba import float32, int64

from ..contraction.blocks import INT4_COLUMNS, INT4_ROW_BYTES
from .depthwise_tile_q8 import dot_quads
from .dot_q8 import QUANTIZATION_BYTES
from .language.simd import Emitter, Value, f32, i8, i32, microkernel, vector
from .language.target import target
from .output_q8 import PartialStore
from .tile_q8 import sweep

_SUMS, _FLOATS, _BYTES = (
    vector(element, lanes) for element, lanes in ((i32, INT4_COLUMNS), (f32, INT4_COLUMNS), (i8, 64))
)


_MANY_SUMS = 8


def int4_panels(panels: int, heights: tuple[int, ...]) -> Any:
    """(x, ldx, w, panel_bytes, y, ldy, count, blocks, steps, columns, quantization, bias, low, high).

    count rows times `panels` neighbouring panels; a block has `steps` groups of eight bytes.
    Roundings are those of the plain loop, in its order.
    """

    def emit(e: Emitter, *arguments: Value) -> None:
        b = e.builder
        x, ldx, w, panel_bytes, y, ldy, count, blocks, steps, columns = arguments[:10]
        quantization, bias, low, high = arguments[10:]
        x, w, y, quantization = (e.pointer(v) for v in (x, w, y, quantization))
        low, high = e.splat(low, INT4_COLUMNS), e.splat(high, INT4_COLUMNS)
        block_bytes = b.mul(b.add(steps, e.const(1)), e.const(INT4_ROW_BYTES))
        headers = [e.offset(w, b.mul(panel_bytes, e.const(p))) for p in range(panels)]
        lefts = [e.smax(b.sub(columns, e.const(p * INT4_COLUMNS)), e.const(0)) for p in range(panels)]
        partial = PartialStore(e, _FLOATS)

        def emit_tile(m: Value, height: int) -> None:
            rows = [e.offset(x, b.mul(b.add(m, e.const(i)), ldx)) for i in range(height)]
            tile = height * panels
            # A low tile needs more sums to keep the multipliers busy: those of either half apart.
            apart = tile if tile < _MANY_SUMS else 0

            def block(k: Value, totals: list[Value]) -> list[Value]:
                at = e.offset(headers[0], b.add(b.mul(k, block_bytes), e.const(INT4_ROW_BYTES)))
                scales = [e.offset(at, b.mul(panel_bytes, e.const(p))) for p in range(panels)]
                first = b.mul(k, b.shl(steps, e.const(3)))
                zeros = [e.const(0, _SUMS)] * (tile + apart)

                def step(s: Value, acc: list[Value]) -> list[Value]:
                    byte = b.add(first, b.shl(s, e.const(3)))
                    place = b.mul(b.add(s, e.const(1)), e.const(INT4_ROW_BYTES))
                    weights = [halves(e, e.load(e.offset(scale, place), _SUMS)) for scale in scales]
                    return add_products(e, acc, [e.offset(row, byte) for row in rows], weights, apart)

                acc = e.loop(steps, zeros, step)
                out = []
                for i, total in enumerate(totals):
                    # Weights are 16 times as large, being the upper halves of bytes.
                    both = b.add(acc[i], acc[apart + i]) if apart else acc[i]
                    sums = b.ashr(both, e.const(4, _SUMS))
                    scale = e.load(scales[i % panels], _FLOATS)
                    out.append(b.fadd(total, b.fmul(b.sitofp(sums, _FLOATS), scale)))
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

    return microkernel(f"int4_{panels}_{heights[0]}", [int64] * 12 + [float32] * 2, emit)


def halves(e: Emitter, packed: Value) -> list[Value]:
    """16 times the weights in the low and in the high halves of bytes."""
    b = e.builder
    mask = e.const(0xF0, _BYTES)
    low = b.bitcast(b.shl(packed, e.const(4, _SUMS)), _BYTES)
    return [b.and_(low, mask), b.and_(b.bitcast(packed, _BYTES), mask)]


def add_products(
    e: Emitter, acc: Sequence[Value], rows: Sequence[Value], weights: Sequence[Sequence[Value]], apart: int
) -> list[Value]:
    """acc plus eight bytes of each row times each panel's weights; sums of high halves lie `apart` on."""
    b = e.builder
    out = list(acc)
    for half in range(2):
        for m, row in enumerate(rows):
            x = b.bitcast(e.load_splat(row, i32, INT4_COLUMNS, 4 * half), _BYTES)
            for i, panel in enumerate(weights, half * apart + m * len(weights)):
                out[i] = _dot(e, out[i], x, panel[half])
    return out


def _dot(e: Emitter, acc: Value, x: Value, w: Value) -> Value:
    """acc plus the sums of four products of unsigned x and signed w."""
    if target().vnni:
        return e.call("llvm.x86.avx512.vpdpbusd.512", _SUMS, acc, x, w)
    parts = []
    for half in range(2):
        lanes, quads = list(range(8 * half, 8 * half + 8)), list(range(32 * half, 32 * half + 32))
        operands = [e.shuffle(v, v, order) for v, order in ((acc, lanes), (x, quads), (w, quads))]
        parts.append(dot_quads(e, *operands))
    return e.shuffle(parts[0], parts[1], list(range(16)))
