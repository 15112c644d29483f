"""8-bit depthwise microkernels of processors whose products of bytes are lane by lane.

Nothing is interleaved: a tap's channels are multiplied as they lie, two taps are added up in 16 bits.
"""

from __future__ import annotations

from typing import Any

from ..contraction.blocks import TAPS_BYTES
from .depthwise_tile_q8 import Columns, column_kernel
from .language.operations import halves_of, joined, products_in_words
from .language.simd import Emitter, Value, i8, i32, vector

_BYTES = vector(i8, 16)
_SUMS = vector(i32, 4)


def direct_columns(height: int, width: int, stride: int, together: int, sets: int, rounding: int) -> Any:
    """A column_kernel for the same weights as columns' of depthwise_tile_q8."""
    row_count = height + together - 1
    groups = -(-row_count // 4)

    def all_outputs(e: Emitter, given: Columns) -> None:
        b, block = e.builder, given.block
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
                at = b.add(b.mul(column, given.channels), given.channel)
                loaded = [e.load(e.pointer(b.add(start, at)), _BYTES) for start in given.starts]
                x.append([b.xor(value, given.flip) for value in loaded])
            place = b.add(b.mul(ox, given.channels), given.channel)
            for r in range(together):
                acc = block.bias()
                for k in range(0, len(taps), 2):
                    pair = [(x[kw][r + kh], tap) for kw, kh, tap in taps[k : k + 2]]
                    acc = _added(e, acc, [v for v, _ in pair], [v for _, v in pair])
                block.store(acc, e.offset(given.outputs[r], place), given.left)
            return []

        e.loop(given.out_width, [], over_outputs)

    name = f"depthwise_direct_q8_{height}_{width}_{stride}_{together}_{sets}_{rounding}"
    return column_kernel(name, row_count, together, rounding, all_outputs)


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
