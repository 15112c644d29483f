"""8-bit depthwise microkernels of processors whose products of bytes are lane by lane.

Nothing is interleaved: a tap's channels are multiplied as they lie, two taps are added up in 16 bits.
"""

from __future__ import annotations

from typing import Any

from numba import int64

from ..contraction.blocks import TAPS_BYTES
from .depthwise_tile_q8 import CHANNELS, Block, block_at
from .language.operations import halves_of, joined, products_in_words
from .language.simd import Emitter, Value, i8, i32, i64, microkernel, vector
from .output_q8 import PartialStore, flip_bytes

_BYTES = vector(i8, 16)
_SUMS = vector(i32, 4)


def direct_columns(height: int, width: int, stride: int, together: int, sets: int, rounding: int) -> Any:
    """(rows, w, block_bytes, y, y_next, out_width, channels, output): as depthwise_tile_q8.columns has it."""
    row_count = height + together - 1
    groups = -(-row_count // 4)

    def emit(
        e: Emitter,
        rows: Value,
        w: Value,
        block_bytes: Value,
        y: Value,
        y_next: Value,
        out_width: Value,
        channels: Value,
        output: Value,
    ) -> None:
        b = e.builder
        rows, w, output = (e.pointer(v) for v in (rows, w, output))
        outputs = [e.pointer(v) for v in (y, y_next)][:together]
        partial = PartialStore(e, _BYTES)
        flip = flip_bytes(e, output, _BYTES)
        starts = [e.load(rows, i64, 8 * k) for k in range(row_count)]

        def over_channels(c: Value, _: list[Value]) -> list[Value]:
            block = Block(e, rounding, block_at(e, w, block_bytes, c), output, partial)
            left = b.sub(channels, c)
            # Those of the first row of outputs: the others see the same, rows further down.
            taps = [
                (kw, 4 * g + t, tap)
                for s in range(sets)
                for kw in range(width)
                for g in range(groups)
                for t, tap in enumerate(_taps(e, block.taps, ((s * width + kw) * together) * groups + g))
                if 4 * g + t < height
            ]

            def over_outputs(ox: Value, _: list[Value]) -> list[Value]:
                x = []
                for u in range(width):
                    column = b.add(b.mul(ox, e.const(stride)), e.const(u))
                    at = b.add(b.mul(column, channels), c)
                    x.append([b.xor(e.load(e.pointer(b.add(start, at)), _BYTES), flip) for start in starts])
                place = b.add(b.mul(ox, channels), c)
                for r in range(together):
                    acc = block.bias()
                    for k in range(0, len(taps), 2):
                        pair = [(x[kw][r + kh], tap) for kw, kh, tap in taps[k : k + 2]]
                        acc = _added(e, acc, [v for v, _ in pair], [v for _, v in pair])
                    block.store(acc, e.offset(outputs[r], place), left)
                return []

            e.loop(out_width, [], over_outputs)
            return []

        e.loop(channels, [], over_channels, step=CHANNELS)

    name = f"depthwise_direct_q8_{height}_{width}_{stride}_{together}_{sets}_{rounding}"
    return microkernel(name, [int64] * 8, emit)


def _taps(e: Emitter, taps: Value, group: int) -> list[Value]:
    """The four taps of an interleaved group, each of 16 channels."""
    mixed = joined(e, [e.load(taps, _BYTES, group * TAPS_BYTES + 32 * j) for j in range(4)])
    return [e.shuffle(mixed, mixed, list(range(t, 64, 4))) for t in range(4)]


def _added(e: Emitter, acc: list[Value], x: list[Value], w: list[Value]) -> list[Value]:
    """acc, the sums of 16 channels in fours, plus the products of one or two taps."""
    halves = [[halves_of(e, v) for v in side] for side in (x, w)]
    words = [products_in_words(e, *([v[half] for v in side] for side in halves)) for half in (0, 1)]
    fours = [four for word in words for four in halves_of(e, word)]
    return [e.builder.add(v, e.builder.sext(four, _SUMS)) for v, four in zip(acc, fours, strict=True)]
