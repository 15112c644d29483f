"""float32 depthwise convolutions of any filter size, stride and dilation.

A microkernel computes up to PIXELS neighbouring outputs of a row for all channels, a vector
of channels at a time. Filters 3 and 5 wide with stride 1 or 2 have their own: they load each
input once per filter row. With AVX2, where a vector is half a cache line, those 3 wide take both halves
together, for fewer outputs. The outputs next to the left and right edges use a checked twin,
which reads zeros for columns outside the input. Other filters see rows that are padded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numba import carray, float32, int64, njit

from ..contraction.blocks import BLOCK_CHANNELS, DEPTHWISE_F32, ONE_CHANNEL, PIXELS, SPREAD_ROWS_F32
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer
from .language.simd import Emitter, Value, f32, microkernel, vector
from .language.target import target
from .run_copy import copy_run, fill_run
from .tile_f32 import clamp_all

kernels = KernelSources()

LANES = target().vector_bytes // 4
# Vectors of channels and outputs that filters 3 wide take together: as many sums as registers hold, and each
# cache line once.
PARTS, LINE_PIXELS = (2, 4) if LANES == 8 else (1, PIXELS)


class _Pixels:
    """Emits the outputs of one microkernel: where inputs, weights and results lie."""

    def __init__(
        self, e: Emitter, checked: bool, arguments: tuple[Value, ...], one_channel: bool = False
    ) -> None:
        x, row_bytes, rows, column, self.in_width, w, bias, y, self.count, self.zeros = arguments[:10]
        self.channels, taps, low, high = arguments[10:14]
        self.e, self.checked, self.one_channel = e, checked, one_channel
        self.partial = checked
        b = e.builder
        self.x, self.row_bytes, self.rows, self.column = x, row_bytes, rows, column
        self.w, self.bias, self.y = e.pointer(w), e.pointer(bias), e.pointer(y)
        self.pixel_bytes = b.mul(self.channels, e.const(4))
        self.in_pixel_bytes = e.const(4) if one_channel else self.pixel_bytes
        self.block_bytes = b.mul(b.add(taps, e.const(1)), e.const(4 * BLOCK_CHANNELS))
        self.low, self.high = low, high
        self.type = vector(f32, LANES)

    def place(self, row: Value, column: Value) -> Value:
        """Where the input of a row (address of its column 0) at a column lies, or zeros outside."""
        e, b = self.e, self.e.builder
        at = b.add(row, b.mul(column, self.in_pixel_bytes))
        if self.checked:
            inside = b.icmp_unsigned("<", column, self.in_width)
            at = b.select(inside, at, self.zeros)
        return e.pointer(at)

    def loaded(self, place: Value, part: int = 0) -> Value:
        if self.one_channel:
            return self.e.load_splat(place, f32, LANES)
        return self.e.load(place, self.type, 4 * LANES * part)

    def store(self, acc: list[Value], c: Value, parts: int = 1) -> None:
        """Store the outputs of the channels from c on: acc has `parts` vectors for each pixel."""
        e, b = self.e, self.e.builder
        y = e.offset(self.y, b.mul(c, e.const(4)))
        left = b.sub(self.channels, c)
        clamped = clamp_all(e, acc, self.low, self.high)

        def store_all(masked: bool) -> None:
            masks = [e.first_lanes(LANES, self._left_of(left, j)) for j in range(parts)] if masked else []

            def one(t: int) -> None:
                at = e.offset(y, b.mul(self.pixel_bytes, e.const(t)))
                for j, value in enumerate(clamped[t * parts : (t + 1) * parts]):
                    place = e.offset(at, 4 * LANES * j)
                    if masked:
                        e.masked_store(value, place, masks[j])
                    else:
                        e.store(value, place)

            for t in range(len(clamped) // parts):
                if self.partial and t > 0:
                    e.branch(b.icmp_signed("<", e.const(t), self.count), partial(one, t))
                else:
                    one(t)

        whole = b.icmp_signed(">=", left, e.const(LANES * parts))
        e.branch(whole, lambda: store_all(False), lambda: store_all(True))

    def _left_of(self, left: Value, part: int) -> Value:
        """Channels of those left that are in a part's lanes or behind them."""
        if part == 0:
            return left
        return self.e.smax(self.e.builder.sub(left, self.e.const(LANES * part)), self.e.const(0))


_ARGUMENTS = [int64] * 12 + [float32] * 2


def _fixed_width(width: int, stride: int, checked: bool, left: bool = False, right: bool = False) -> Any:
    """The microkernel of filters `width` wide, dilation 1 along the row.

    Left and right: all outputs are there, and of what they see nothing is outside but the first or the
    last column.
    """
    most, pixels = (PARTS, LINE_PIXELS) if width == 3 else (1, PIXELS)

    def emit(e: Emitter, *arguments: Value) -> None:
        b = e.builder
        p = _Pixels(e, checked, arguments)
        columns = [b.add(p.column, e.const(k)) for k in range((pixels - 1) * stride + width)]
        outside = {0} if left else set()
        outside |= {len(columns) - 1} if right else set()
        following = [b.add(columns[-1], e.const(1 + k)) for k in range(pixels * stride if most > 1 else 0)]

        def block(c: Value, parts: int) -> None:
            within = b.mul(b.urem(c, e.const(BLOCK_CHANNELS)), e.const(4))
            start = b.add(b.mul(b.udiv(c, e.const(BLOCK_CHANNELS)), p.block_bytes), within)
            w = e.offset(p.w, start)
            x = b.add(p.x, b.mul(c, e.const(4)))

            def row(ky: Value, acc: list[Value]) -> list[Value]:
                acc = list(acc)
                at = e.offset(w, b.mul(ky, e.const(width * 4 * BLOCK_CHANNELS)))
                taps = [e.offset(at, 4 * BLOCK_CHANNELS * kx) for kx in range(width)]
                weights = [[p.loaded(tap, j) for j in range(parts)] for tap in taps]
                row_start = b.add(x, b.mul(ky, p.row_bytes))
                for column in following:
                    e.prefetch(p.place(row_start, column))
                for k, column in enumerate(columns):
                    place = p.place(row_start, column)
                    values = [p.loaded(place, j) for j in range(parts)]
                    if k in outside:
                        values = [e.const(0.0, p.type)] * parts
                    for kx in range(width):
                        t, rest = divmod(k - kx, stride)
                        if rest == 0 and 0 <= t < pixels:
                            for j, value in enumerate(values):
                                i = t * parts + j
                                acc[i] = e.multiply_add(value, weights[kx][j], acc[i])
                return acc

            bias = [e.load(e.offset(p.bias, start), p.type, 4 * LANES * j) for j in range(parts)]
            p.store(e.loop(p.rows, bias * pixels, row), c, parts)

        def blocks(parts: int) -> Callable[[Value, list[Value]], list[Value]]:
            def one(c: Value, _: list[Value]) -> list[Value]:
                block(c, parts)
                return []

            return one

        done = e.const(0)
        if most > 1:
            # Where one vector is left, it is taken alone.
            step = most * LANES
            done = b.and_(b.add(p.channels, e.const(LANES - 1)), e.const(-step))
            e.loop(done, [], blocks(most), step=step)
        e.loop(p.channels, [], blocks(1), step=LANES, start=done)

    name = f"depthwise_f32_{width}_{stride}_{checked}_{left}_{right}"
    return microkernel(name, _ARGUMENTS, emit)


def _any_width(one_channel: bool, whole: bool) -> Any:
    """The microkernel of any filter; takes its width, stride and dilation along the row as well.

    All that it reads is inside the input. Computes PIXELS outputs where they are whole.
    """

    def emit(e: Emitter, *arguments: Value) -> None:
        b = e.builder
        width, stride, dilation = arguments[12:15]
        p = _Pixels(e, False, (*arguments[:12], *arguments[15:]), one_channel)
        p.partial = not whole
        start_column = b.mul(p.column, p.in_pixel_bytes)
        steps = [b.mul(b.mul(stride, e.const(t)), p.in_pixel_bytes) for t in range(PIXELS)]
        tap_bytes = b.mul(dilation, p.in_pixel_bytes)

        def block(c: Value, _: list[Value]) -> list[Value]:
            within = b.mul(b.urem(c, e.const(BLOCK_CHANNELS)), e.const(4))
            start = b.add(b.mul(b.udiv(c, e.const(BLOCK_CHANNELS)), p.block_bytes), within)
            x = b.add(p.x, start_column)
            if not one_channel:
                x = b.add(x, b.mul(c, e.const(4)))

            def row(ky: Value, acc: list[Value]) -> list[Value]:
                row_start = b.add(x, b.mul(ky, p.row_bytes))
                first = b.mul(ky, width)

                def tap(kx: Value, acc: list[Value]) -> list[Value]:
                    at = b.mul(b.add(first, kx), e.const(4 * BLOCK_CHANNELS))
                    weight = e.load(e.offset(p.w, b.add(start, at)), p.type)
                    base = e.pointer(b.add(row_start, b.mul(kx, tap_bytes)))
                    return [
                        e.multiply_add(p.loaded(e.offset(base, step)), weight, total)
                        for step, total in zip(steps, acc, strict=True)
                    ]

                return e.loop(width, acc, tap)

            bias = e.load(e.offset(p.bias, start), p.type)
            p.store(e.loop(p.rows, [bias] * PIXELS, row), c)
            return []

        e.loop(p.channels, [], block, step=LANES)

    return microkernel(f"depthwise_f32_any_{one_channel}_{whole}", [int64] * 15 + [float32] * 2, emit)


# Edges of a row of width 3 have kernels of their own where tiles are narrow, and edges many.
EDGES = PARTS > 1


def _edges(stride: int) -> tuple[Any, Any, Any]:
    """The microkernels of the left edge, of the right one, and of both."""
    if not EDGES:
        return (_fixed_width(3, stride, True),) * 3
    return tuple(
        _fixed_width(3, stride, False, *sides) for sides in ((True, False), (False, True), (True, True))
    )


_3_1_left, _3_1_right, _3_1_both = _edges(1)
_3_2_left, _3_2_right, _3_2_both = _edges(2)
_3_1, _3_1_checked = _fixed_width(3, 1, False), _fixed_width(3, 1, True)
_3_2, _3_2_checked = _fixed_width(3, 2, False), _fixed_width(3, 2, True)
_5_1, _5_1_checked = _fixed_width(5, 1, False), _fixed_width(5, 1, True)
_5_2, _5_2_checked = _fixed_width(5, 2, False), _fixed_width(5, 2, True)
_any, _any_part = _any_width(False, True), _any_width(False, False)
_one, _one_part = _any_width(True, True), _any_width(True, False)


@kernels.add(DEPTHWISE_F32)
def depthwise_f32(a, chunk, chunks):
    total = a.images * a.out_height
    row_bytes = a.in_width * (1 if a.kind == ONE_CHANNEL else a.channels) * 4
    step = row_bytes * a.dilation_h
    taps = a.filter_height * a.filter_width
    pixels = LINE_PIXELS if a.kind == 31 or a.kind == 32 else PIXELS
    reach = (pixels - 1) * a.stride_w + (a.filter_width - 1) * a.dilation_w
    for row in range(total * chunk // chunks, total * (chunk + 1) // chunks):
        image = row // a.out_height
        top = (row - image * a.out_height) * a.stride_h - a.pad_top
        first = max(0, -(top // a.dilation_h))
        last = min(a.filter_height, (a.in_height - top + a.dilation_h - 1) // a.dilation_h)
        rows = max(0, last - first)
        x = a.x + (image * a.in_height + top + first * a.dilation_h) * row_bytes
        w = a.w + (1 + first * a.filter_width) * BLOCK_CHANNELS * 4
        y = a.y + row * a.out_width * a.channels * 4
        for tile in range(0, a.out_width, pixels):
            # The last tile is moved back over outputs that are computed already.
            ox = min(tile, max(0, a.out_width - pixels))
            at = ox * a.stride_w - a.pad_left
            n = a.out_width - ox
            o = y + ox * a.channels * 4
            c, z, width, lo, hi = a.channels, a.zeros, a.in_width, a.low, a.high
            inside = at >= 0 and at + reach < width and n >= pixels
            edge = EDGES and at >= -1 and at + reach <= width and n >= pixels
            left, right = at < 0, at + reach == width
            if a.kind == 31:
                if inside:
                    _3_1(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                elif edge and left and right:
                    _3_1_both(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                elif edge and left:
                    _3_1_left(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                elif edge:
                    _3_1_right(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                else:
                    _3_1_checked(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
            elif a.kind == 32:
                if inside:
                    _3_2(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                elif edge and left and right:
                    _3_2_both(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                elif edge and left:
                    _3_2_left(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                elif edge:
                    _3_2_right(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                else:
                    _3_2_checked(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
            elif a.kind == 51:
                if inside:
                    _5_1(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                else:
                    _5_1_checked(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
            elif a.kind == 52:
                if inside:
                    _5_2(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                else:
                    _5_2_checked(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
            elif a.kind == ONE_CHANNEL:
                fw, s, d = a.filter_width, a.stride_w, a.dilation_w
                if inside:
                    _one(x, step, rows, at, width, w, a.w, o, n, z, c, taps, fw, s, d, lo, hi)
                else:
                    _one_part(x, step, rows, at, width, w, a.w, o, n, z, c, taps, fw, s, d, lo, hi)
            else:
                fw, s, d = a.filter_width, a.stride_w, a.dilation_w
                if inside:
                    _any(x, step, rows, at, width, w, a.w, o, n, z, c, taps, fw, s, d, lo, hi)
                else:
                    _any_part(x, step, rows, at, width, w, a.w, o, n, z, c, taps, fw, s, d, lo, hi)
    return 0


@njit(error_model="numpy")
def repeat_channels(to, source, count, multiplier):
    """Each of count numbers `multiplier` times."""
    x = carray(float32_pointer(source), count)
    y = carray(float32_pointer(to), (count, multiplier))
    for i in range(count):
        for j in range(multiplier):
            y[i, j] = x[i]


@kernels.add(SPREAD_ROWS_F32)
def spread_rows_f32(a, chunk, chunks):
    width = a.channels * a.multiplier
    row = (a.left + a.pixels + a.right) * width
    for r in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        y = a.y + r * row * 4
        fill_run(y, np.int64(0), a.left * width * 4)
        y += a.left * width * 4
        x = a.x + r * a.pixels * a.channels * 4
        if a.multiplier == 1:
            copy_run(y, x, a.pixels * width * 4)
        else:
            repeat_channels(y, x, a.pixels * a.channels, a.multiplier)
        fill_run(y + a.pixels * width * 4, np.int64(0), a.right * width * 4)
    return 0
