"""8-bit depthwise microkernels: many channels at a time, four filter taps in one dot product.

Bytes of four taps are interleaved channel by channel. A block of 32 channels is held in four
vectors of 8 channels: vector j has channels 4j to 4j + 3 and 16 + 4j to 16 + 4j + 3. Processors whose
vectors are of 128 bits take either half of each, and so 16 channels at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from numba import int64

from ..contraction.blocks import (
    BIAS_ROW,
    BLOCK,
    BLOCK_ROW_BYTES,
    HIGH_FLOAT,
    HYBRID_BIAS_ROW,
    HYBRID_HEADER,
    HYBRID_SCALE_ROW,
    LOW_FLOAT,
    TAPS_BYTES,
    WEIGHT_SUM_ROW,
)
from ..requantize import HYBRID
from .dot_q8 import header_rows, hybrid_zero_point
from .language.dot_forms import dot_forms
from .language.operations import add_fours
from .language.simd import Emitter, Value, f32, i8, i32, i64, microkernel, vector
from .language.target import target
from .output_q8 import ChannelRows, PartialStore, bytes_of_quarters, flip_bytes, requantized, rounding_rows

# Beside the roundings of requantize.py: HYBRID as a convolution with a group for each channel has it, which
# multiplies by the image's scale first.
GROUPED_HYBRID = 6
HYBRIDS = HYBRID, GROUPED_HYBRID

# Channels that are taken at a time: a block, or half of one.
CHANNELS = min(BLOCK, target().vector_bytes)
_LANES = CHANNELS // 4
_BYTES, _SUMS = vector(i8, CHANNELS), vector(i32, _LANES)
_QUARTERS = [32 * j for j in range(4)]


def interleaved(e: Emitter, taps: Sequence[Value]) -> list[Value]:
    """Four vectors of bytes as four vectors of quads: see the module's words on order."""

    def unpack(a: Value, b: Value, width: int, high: bool) -> Value:
        order = []
        for lane in range(0, CHANNELS, 16):
            start = lane + (8 if high else 0)
            for k in range(start, start + 8, width):
                order += [*range(k, k + width), *range(CHANNELS + k, CHANNELS + k + width)]
        return e.shuffle(a, b, order)

    low, high = unpack(taps[0], taps[1], 1, False), unpack(taps[0], taps[1], 1, True)
    low_2, high_2 = unpack(taps[2], taps[3], 1, False), unpack(taps[2], taps[3], 1, True)
    return [
        unpack(low, low_2, 2, False),
        unpack(low, low_2, 2, True),
        unpack(high, high_2, 2, False),
        unpack(high, high_2, 2, True),
    ]


def block_at(e: Emitter, w: Value, block_bytes: Value, channel: Value) -> Value:
    """Where the packed rows of the channels from `channel` on start."""
    b = e.builder
    block = e.offset(w, b.mul(b.lshr(channel, e.const(5)), block_bytes))
    return block if CHANNELS == BLOCK else e.offset(block, b.and_(channel, e.const(16)))


class Block:
    """A block's channels that are taken together: their packed taps, and what their sums become."""

    def __init__(
        self,
        e: Emitter,
        rounding: int,
        w: Value,
        output: Value,
        partial: PartialStore,
        quantization: Value | None = None,
    ) -> None:
        self.e, self.rounding, self.output, self.partial = e, rounding, output, partial
        self.quantization = quantization
        self.rows = ChannelRows(e, w, BLOCK_ROW_BYTES, _QUARTERS)
        header = HYBRID_HEADER if rounding in HYBRIDS else header_rows(rounding)
        self.taps = e.offset(w, header * BLOCK_ROW_BYTES)

    def bias(self) -> list[Value]:
        if self.rounding in HYBRIDS:
            return [self.e.const(0, _SUMS)] * 4
        return self.rows.read(BIAS_ROW, i32, _LANES)

    def add(self, acc: Sequence[Value], quads: Sequence[Value], taps: Value, group: int) -> list[Value]:
        """acc plus quads times the group's weights."""
        e, start, form = self.e, group * TAPS_BYTES, dot_forms()[0]
        return [
            add_fours(e, form, sums, x, e.load(taps, _BYTES, start + offset))
            for sums, x, offset in zip(acc, quads, _QUARTERS, strict=True)
        ]

    def store(self, acc: Sequence[Value], y: Value, channels: Value) -> None:
        """Store the outputs of the first `channels` channels at y."""
        e = self.e
        if self.rounding in HYBRIDS:
            self._store_floats(acc, y, channels)
            return
        rows = {row: self.rows.read(row, kind, _LANES) for row, kind in rounding_rows(self.rounding).items()}
        quarters = [
            requantized(e, sums, self.rounding, {row: parts[j] for row, parts in rows.items()}, self.output)
            for j, sums in enumerate(acc)
        ]
        self.partial.store([bytes_of_quarters(e, quarters, self.output)], [y], channels)

    def _store_floats(self, acc: Sequence[Value], y: Value, channels: Value) -> None:
        """(sum - zero point * sum of weights) * channel scale * image scale + bias, clamped."""
        e, b = self.e, self.e.builder
        floats = vector(f32, _LANES)
        totals = self.rows.read(WEIGHT_SUM_ROW, i32, _LANES)
        scales, biases = (self.rows.read(row, f32, _LANES) for row in (HYBRID_SCALE_ROW, HYBRID_BIAS_ROW))
        zero_point = hybrid_zero_point(e, self.quantization, _LANES)
        image_scale = e.load_splat(self.quantization, f32, _LANES, 4)
        low, high = (e.load(self.output, floats, at) for at in (LOW_FLOAT, HIGH_FLOAT))
        values = []
        for sums, total, scale, bias in zip(acc, totals, scales, biases, strict=True):
            centred = b.sitofp(b.sub(sums, b.mul(total, zero_point)), floats)
            if self.rounding == GROUPED_HYBRID:
                found = e.multiply_add(b.fmul(centred, image_scale), scale, bias)
            else:
                found = b.fadd(b.fmul(b.fmul(centred, scale), image_scale), bias)
            values.append(e.clamp(found, low, high))
        for k in range(CHANNELS // 8):
            first, half = k % 2 * 2, k // 2 * 4
            order = [*range(half, half + 4), *range(_LANES + half, _LANES + half + 4)]
            left = e.smax(b.sub(channels, e.const(8 * k)), e.const(0))
            ordered = e.shuffle(values[first], values[first + 1], order)
            self.partial.store([ordered], [e.offset(y, 32 * k)], left)


def any_taps(rounding: int) -> Any:
    """(taps, groups, w, block_bytes, y, width, step, channels, output, quantization).

    A row of outputs, any filter. quantization is the image's, where the operator is hybrid.

    taps are 4 * groups addresses, of each tap's byte for output 0 and channel 0; output ox
    reads step * ox bytes on, and channel c another c bytes on.
    """

    def emit(
        e: Emitter,
        taps: Value,
        groups: Value,
        w: Value,
        block_bytes: Value,
        y: Value,
        width: Value,
        step: Value,
        channels: Value,
        output: Value,
        quantization: Value,
    ) -> None:
        b = e.builder
        taps, w, y, output, quantization = (e.pointer(v) for v in (taps, w, y, output, quantization))
        element_bytes = 4 if rounding in HYBRIDS else 1
        partial = PartialStore(e, vector(f32, 8) if rounding in HYBRIDS else _BYTES)
        flip = flip_bytes(e, output, _BYTES)

        def over_channels(c: Value, _: list[Value]) -> list[Value]:
            block = Block(e, rounding, block_at(e, w, block_bytes, c), output, partial, quantization)
            left = b.sub(channels, c)

            def over_outputs(ox: Value, _: list[Value]) -> list[Value]:
                at = b.add(b.mul(ox, step), c)

                def over_groups(g: Value, acc: list[Value]) -> list[Value]:
                    table = e.offset(taps, b.mul(g, e.const(32)))
                    rows = []
                    for t in range(4):
                        place = e.pointer(b.add(e.load(table, i64, 8 * t), at))
                        rows.append(b.xor(e.load(place, _BYTES), flip))
                    group_taps = e.offset(block.taps, b.mul(g, e.const(TAPS_BYTES)))
                    return block.add(acc, interleaved(e, rows), group_taps, 0)

                acc = e.loop(groups, block.bias(), over_groups)
                place = b.mul(b.add(b.mul(ox, channels), c), e.const(element_bytes))
                block.store(acc, e.offset(y, place), left)
                return []

            e.loop(width, [], over_outputs)
            return []

        e.loop(channels, [], over_channels, step=CHANNELS)

    return microkernel(f"depthwise_taps_q8_{rounding}", [int64] * 10, emit)


class Columns(NamedTuple):
    """What a kernel of whole columns is given, of the channels of a block; `left` of them are stored."""

    block: Block
    starts: list[Value]  # of the input rows, addresses
    flip: Value
    channel: Value  # the first of them
    channels: Value
    left: Value
    outputs: list[Value]  # rows
    out_width: Value


def column_kernel(
    name: str, row_count: int, together: int, rounding: int, over_outputs: Callable[[Emitter, Columns], None]
) -> Any:
    """(rows, w, block_bytes, y, y_next, out_width, channels, output): `together` rows of outputs.

    rows are addresses of the row_count input rows at the first output's first column.
    over_outputs computes all outputs of a block's channels.
    """

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
            over_outputs(e, Columns(block, starts, flip, c, channels, left, outputs, out_width))
            return []

        e.loop(channels, [], over_channels, step=CHANNELS)

    return microkernel(name, [int64] * 8, emit)


def columns(height: int, width: int, stride: int, together: int, sets: int, rounding: int) -> Any:
    """A column_kernel: a column of the filter's rows, interleaved once, serves all outputs that it is under.

    With two sets of weights, a weight is the sum of both.
    """
    row_count = height + together - 1
    groups = -(-row_count // 4)
    pending = -(-(width - stride) // stride)

    def all_outputs(e: Emitter, given: Columns) -> None:
        b, block = e.builder, given.block

        def column(index: Value) -> list[list[Value]]:
            at = b.add(b.mul(index, given.channels), given.channel)
            taps = [b.xor(e.load(e.pointer(b.add(start, at)), _BYTES), given.flip) for start in given.starts]
            taps += [taps[-1]] * (4 * groups - row_count)
            return [interleaved(e, taps[4 * g : 4 * g + 4]) for g in range(groups)]

        def advance(first: Value, offsets: range, acc: list[list[Value]]) -> list[list[Value]]:
            """acc[i * together + r], output i's row r, with the columns at first + offsets added."""
            for u in offsets:
                quads = column(b.add(first, e.const(u)))
                for i in range(pending + 1):
                    kw = u - i * stride
                    if not 0 <= kw < width:
                        continue
                    for r in range(together):
                        k = i * together + r
                        while len(acc) <= k:
                            acc.append(block.bias())
                        for s in range(sets):
                            for g in range(groups):
                                index = ((s * width + kw) * together + r) * groups + g
                                acc[k] = block.add(acc[k], quads[g], block.taps, index)
            return acc

        def over_outputs(ox: Value, carried: list[Value]) -> list[Value]:
            acc = [carried[k : k + 4] for k in range(0, len(carried), 4)]
            acc = advance(b.mul(ox, e.const(stride)), range(width - stride, width), acc)
            place = b.add(b.mul(ox, given.channels), given.channel)
            for r in range(together):
                block.store(acc[r], e.offset(given.outputs[r], place), given.left)
            return [v for sums in acc[together:] for v in sums]

        started = advance(e.const(0), range(width - stride), [])
        e.loop(given.out_width, [v for sums in started for v in sums], over_outputs)

    name = f"depthwise_columns_q8_{height}_{width}_{stride}_{together}_{sets}_{rounding}"
    return column_kernel(name, row_count, together, rounding, all_outputs)
