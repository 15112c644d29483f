"""float32 depthwise convolutions of any filter size, stride and dilation.

A microkernel computes up to PIXELS neighbouring outputs of a row for all channels, a vector
of channels at a time. Filters 3 and 5 wide with stride 1 or 2 have their own: they load each
input once per filter row. The outputs next to the left and right edges, and the rest of a
row, use a checked twin, which reads zeros for columns outside the input.
"""

from __future__ import annotations

from typing import Any

from numba import carray, float32, int64

from ..depthwise_conv_f32 import BLOCK_CHANNELS, DEPTHWISE_F32, REPEAT_CHANNELS_F32
from .family import KernelFamily
from .memory import float32_pointer
from .simd import Emitter, Value, f32, i8, microkernel, vector
from .target import target
from .tile_f32 import clamp_all

kernels = KernelFamily()

PIXELS = 7
LANES = target().vector_bytes // 4


class _Pixels:
    """Emits the outputs of one microkernel: where inputs, weights and results lie."""

    def __init__(self, e: Emitter, checked: bool, arguments: tuple[Value, ...]) -> None:
        x, row_bytes, rows, column, self.in_width, w, bias, y, self.count, self.zeros = arguments[:10]
        self.channels, taps, low, high = arguments[10:14]
        self.e, self.checked = e, checked
        b = e.builder
        self.x, self.row_bytes, self.rows, self.column = x, row_bytes, rows, column
        self.w, self.bias, self.y = e.pointer(w), e.pointer(bias), e.pointer(y)
        self.pixel_bytes = b.mul(self.channels, e.const(4))
        self.block_bytes = b.mul(b.add(taps, e.const(1)), e.const(4 * BLOCK_CHANNELS))
        self.low, self.high = low, high
        self.type = vector(f32, LANES)

    def input(self, row: Value, column: Value) -> Value:
        """Input of a row (address of its column 0) at a column, or zeros outside."""
        e, b = self.e, self.e.builder
        at = b.add(row, b.mul(column, self.pixel_bytes))
        if self.checked:
            inside = b.icmp_unsigned("<", column, self.in_width)
            at = b.select(inside, at, self.zeros)
        return e.load(b.inttoptr(at, i8.as_pointer()), self.type)

    def store(self, acc: list[Value], c: Value) -> None:
        e, b = self.e, self.e.builder
        y = e.offset(self.y, b.mul(c, e.const(4)))
        left = b.sub(self.channels, c)
        clamped = clamp_all(e, acc, self.low, self.high)

        def store_all(masked: bool) -> None:
            mask = e.first_lanes(LANES, left) if masked else None
            for t, value in enumerate(clamped):

                def one(t: int = t, value: Value = value) -> None:
                    at = e.offset(y, b.mul(self.pixel_bytes, e.const(t)))
                    if masked:
                        e.masked_store(value, at, mask)
                    else:
                        e.store(value, at)

                if self.checked and t > 0:
                    e.branch(b.icmp_signed("<", e.const(t), self.count), one)
                else:
                    one()

        whole = b.icmp_signed(">=", left, e.const(LANES))
        e.branch(whole, lambda: store_all(False), lambda: store_all(True))


_ARGUMENTS = [int64] * 12 + [float32] * 2


def _fixed_width(width: int, stride: int, checked: bool) -> Any:
    """The microkernel of filters `width` wide, dilation 1 along the row."""

    def emit(e: Emitter, *arguments: Value) -> None:
        b = e.builder
        p = _Pixels(e, checked, arguments)
        columns = [b.add(p.column, e.const(k)) for k in range((PIXELS - 1) * stride + width)]

        def block(c: Value, _: list[Value]) -> list[Value]:
            within = b.mul(b.urem(c, e.const(BLOCK_CHANNELS)), e.const(4))
            start = b.add(b.mul(b.udiv(c, e.const(BLOCK_CHANNELS)), p.block_bytes), within)
            w = e.offset(p.w, start)
            x = b.add(p.x, b.mul(c, e.const(4)))

            def row(ky: Value, acc: list[Value]) -> list[Value]:
                acc = list(acc)
                at = e.offset(w, b.mul(ky, e.const(width * 4 * BLOCK_CHANNELS)))
                weights = [e.load(at, p.type, 4 * BLOCK_CHANNELS * kx) for kx in range(width)]
                row_start = b.add(x, b.mul(ky, p.row_bytes))
                for k, column in enumerate(columns):
                    value = p.input(row_start, column)
                    for kx in range(width):
                        t, rest = divmod(k - kx, stride)
                        if rest == 0 and 0 <= t < PIXELS:
                            acc[t] = e.multiply_add(value, weights[kx], acc[t])
                return acc

            bias = e.load(e.offset(p.bias, start), p.type)
            p.store(e.loop(p.rows, [bias] * PIXELS, row), c)
            return []

        e.loop(p.channels, [], block, step=LANES)

    return microkernel(f"depthwise_f32_{width}_{stride}_{checked}", _ARGUMENTS, emit)


def _any_width() -> Any:
    """The microkernel of any filter; takes its width, stride and dilation along the row as well."""

    def emit(e: Emitter, *arguments: Value) -> None:
        b = e.builder
        width, stride, dilation = arguments[12:15]
        p = _Pixels(e, True, (*arguments[:12], *arguments[15:]))

        def block(c: Value, _: list[Value]) -> list[Value]:
            within = b.mul(b.urem(c, e.const(BLOCK_CHANNELS)), e.const(4))
            start = b.add(b.mul(b.udiv(c, e.const(BLOCK_CHANNELS)), p.block_bytes), within)
            x = b.add(p.x, b.mul(c, e.const(4)))

            def row(ky: Value, acc: list[Value]) -> list[Value]:
                row_start = b.add(x, b.mul(ky, p.row_bytes))
                first = b.mul(ky, width)

                def tap(kx: Value, acc: list[Value]) -> list[Value]:
                    at = b.mul(b.add(first, kx), e.const(4 * BLOCK_CHANNELS))
                    weight = e.load(e.offset(p.w, b.add(start, at)), p.type)
                    column = b.add(p.column, b.mul(kx, dilation))
                    out = []
                    for t in range(PIXELS):
                        value = p.input(row_start, b.add(column, b.mul(stride, e.const(t))))
                        out.append(e.multiply_add(value, weight, acc[t]))
                    return out

                return e.loop(width, acc, tap)

            bias = e.load(e.offset(p.bias, start), p.type)
            p.store(e.loop(p.rows, [bias] * PIXELS, row), c)
            return []

        e.loop(p.channels, [], block, step=LANES)

    return microkernel("depthwise_f32_any", [int64] * 15 + [float32] * 2, emit)


_3_1, _3_1_checked = _fixed_width(3, 1, False), _fixed_width(3, 1, True)
_3_2, _3_2_checked = _fixed_width(3, 2, False), _fixed_width(3, 2, True)
_5_1, _5_1_checked = _fixed_width(5, 1, False), _fixed_width(5, 1, True)
_5_2, _5_2_checked = _fixed_width(5, 2, False), _fixed_width(5, 2, True)
_any = _any_width()


@kernels.add(DEPTHWISE_F32)
def depthwise_f32(a, chunk, chunks):
    kind = 0
    if a.dilation_w == 1 and (a.filter_width == 3 or a.filter_width == 5) and a.stride_w <= 2:
        kind = a.filter_width * 10 + a.stride_w
    total = a.images * a.out_height
    row_bytes = a.in_width * a.channels * 4
    step = row_bytes * a.dilation_h
    taps = a.filter_height * a.filter_width
    reach = (PIXELS - 1) * a.stride_w + (a.filter_width - 1) * a.dilation_w
    for row in range(total * chunk // chunks, total * (chunk + 1) // chunks):
        image = row // a.out_height
        top = (row - image * a.out_height) * a.stride_h - a.pad_top
        first = max(0, -(top // a.dilation_h))
        last = min(a.filter_height, (a.in_height - top + a.dilation_h - 1) // a.dilation_h)
        rows = max(0, last - first)
        x = a.x + (image * a.in_height + top + first * a.dilation_h) * row_bytes
        w = a.w + (1 + first * a.filter_width) * BLOCK_CHANNELS * 4
        y = a.y + row * a.out_width * a.channels * 4
        for ox in range(0, a.out_width, PIXELS):
            at = ox * a.stride_w - a.pad_left
            n = a.out_width - ox
            o = y + ox * a.channels * 4
            c, z, width, lo, hi = a.channels, a.zeros, a.in_width, a.low, a.high
            inside = at >= 0 and at + reach < width and n >= PIXELS
            if kind == 31:
                if inside:
                    _3_1(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                else:
                    _3_1_checked(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
            elif kind == 32:
                if inside:
                    _3_2(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                else:
                    _3_2_checked(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
            elif kind == 51:
                if inside:
                    _5_1(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                else:
                    _5_1_checked(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
            elif kind == 52:
                if inside:
                    _5_2(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
                else:
                    _5_2_checked(x, step, rows, at, width, w, a.w, o, n, z, c, taps, lo, hi)
            else:
                s, d = a.stride_w, a.dilation_w
                _any(x, step, rows, at, width, w, a.w, o, n, z, c, taps, a.filter_width, s, d, lo, hi)
    return 0


@kernels.add(REPEAT_CHANNELS_F32)
def repeat_channels_f32(a, chunk, chunks):
    x = carray(float32_pointer(a.x), a.pixels * a.channels)
    y = carray(float32_pointer(a.y), (a.pixels * a.channels, a.multiplier))
    for i in range(a.pixels * a.channels):
        for j in range(a.multiplier):
            y[i, j] = x[i]
    return 0
