"""Vector code that reduces one pooling window: channels are lanes, kept in registers throughout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from .simd import Emitter, Value, constant, f32, i8, microkernel, vector
from .target import target

# Vectors of channels that are reduced side by side, as many as are left: their additions
# overlap, and pixels far apart are touched less often.
_SIDE_BY_SIDE = (8, 4)

_LOWEST = {"f32": -3.4028234663852886e38, "i8": -128, "u8": 0}


class _Window:
    """What the emitted code is told: where the window lies, and what becomes of the result."""

    def __init__(self, e: Emitter, arguments: tuple[Value, ...], kind: str, average: bool) -> None:
        x, y, self.depth, self.rows, self.columns, self.row_bytes, self.pixel_bytes, *scalars = arguments
        self.e, self.kind, self.average = e, kind, average
        self.x, self.y = e.pointer(x), e.pointer(y)
        self.itemsize = 4 if kind == "f32" else 1
        self.lanes = target().vector_bytes // self.itemsize
        self.type = vector(f32 if kind == "f32" else i8, self.lanes)
        if kind != "f32":
            scalars = [e.builder.trunc(scalar, i8) for scalar in scalars]
        self.scalars = [e.splat(scalar, self.lanes) for scalar in scalars]

    def _combine(self, x: Value, y: Value) -> Value:
        if self.average:
            return self.e.builder.fadd(x, y)
        return {"f32": self.e.fmax, "i8": self.e.smax, "u8": self.e.umax}[self.kind](x, y)

    def _finish(self, value: Value) -> Value:
        low, high, *share = self.scalars
        if self.average:
            value = self.e.builder.fmul(value, share[0])
        if self.kind == "f32":
            return self.e.fmin(self.e.fmax(value, low), high)
        if self.kind == "i8":
            return self.e.smin(self.e.smax(value, low), high)
        return self.e.umin(self.e.umax(value, low), high)

    def reduced(self, channel: Value, vectors: int) -> list[Value]:
        """So many vectors of results, of the channels from `channel` on."""
        e, builder = self.e, self.e.builder
        first = e.offset(self.x, builder.mul(channel, e.const(self.itemsize)))
        start = constant(self.type, 0.0 if self.average else _LOWEST[self.kind])

        def along_row(row: Value, totals: list[Value]) -> list[Value]:
            at_row = e.offset(first, builder.mul(row, self.row_bytes))

            def at_pixel(column: Value, totals: list[Value]) -> list[Value]:
                pixel = e.offset(at_row, builder.mul(column, self.pixel_bytes))
                width = target().vector_bytes
                return [
                    self._combine(total, e.load(pixel, self.type, k * width))
                    for k, total in enumerate(totals)
                ]

            return e.loop(self.columns, totals, at_pixel)

        totals = e.loop(self.rows, [start] * vectors, along_row)
        return [self._finish(total) for total in totals]

    def store(self, values: list[Value], channel: Value) -> None:
        at = self.e.offset(self.y, self.e.builder.mul(channel, self.e.const(self.itemsize)))
        for k, value in enumerate(values):
            self.e.store(value, at, k * target().vector_bytes)


def _emit(kind: str, average: bool) -> Callable[..., None]:
    def emit(e: Emitter, *arguments: Value) -> None:
        window = _Window(e, arguments, kind, average)
        builder, lanes, depth = e.builder, window.lanes, window.depth

        def several(vectors: int) -> Callable[..., list[Value]]:
            def body(channel: Value, _: list[Value]) -> list[Value]:
                window.store(window.reduced(channel, vectors), channel)
                return []

            return body

        def one(channel: Value, _: list[Value]) -> list[Value]:
            # The last vector overlaps the one before it, so that there is no remainder.
            last = builder.sub(depth, e.const(lanes))
            channel = builder.select(builder.icmp_signed("<", channel, last), channel, last)
            window.store(window.reduced(channel, 1), channel)
            return []

        def wide() -> None:
            start = e.const(0)
            for vectors in _SIDE_BY_SIDE:
                stop = builder.and_(depth, e.const(-lanes * vectors))
                e.loop(stop, [], several(vectors), step=lanes * vectors, start=start)
                start = stop
            e.loop(depth, [], one, step=lanes, start=start)

        def narrow() -> None:
            values = window.reduced(e.const(0), 1)
            e.masked_store(values[0], window.y, e.first_lanes(lanes, depth))

        e.branch(builder.icmp_signed(">=", depth, e.const(lanes)), wide, narrow)

    return emit


def _kernel(name: str, kind: str, average: bool = False) -> Any:
    scalars = [types.float32, types.float32] if kind == "f32" else [types.int32, types.int32]
    arguments = [types.int64] * 7 + scalars + ([types.float32] if average else [])
    return microkernel(name, arguments, _emit(kind, average))


# (x, y, depth, rows, columns, row_bytes, pixel_bytes, low, high): y[c] = clamp(max of x[r, k, c])
# over a window at the address x; rows and columns may be 0. Reads up to a vector past its end.
max_window_f32 = _kernel("max_window_f32", "f32")
max_window_i8 = _kernel("max_window_i8", "i8")
max_window_u8 = _kernel("max_window_u8", "u8")

# The same with the sum times a last argument, share.
average_window_f32 = _kernel("average_window_f32", "f32", average=True)
