"""Vector code that reduces rows of 3x3 windows: what neighbours share is read and combined once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from .language.simd import Emitter, Value, microkernel, vector
from .language.target import target
from .pool_window import AVERAGE_F32, MAX_F32, MAX_I8, MAX_U8, Reduction, element_bytes

_SIZE = 3
# Vectors of channels side by side, so that rows are read in long stretches.
_SIDE_BY_SIDE = 4


class _Row:
    """One call of the emitted code: where the windows lie, and what becomes of the results."""

    def __init__(self, e: Emitter, reduction: Reduction, arguments: tuple[Value, ...]) -> None:
        x, y, self.depth, self.outputs, self.row_bytes, self.pixel_bytes, self.stride, *scalars = arguments
        self.e, self.reduction = e, reduction
        self.x, self.y = e.pointer(x), e.pointer(y)
        self.lanes = target().vector_bytes // element_bytes(reduction.accumulator)
        self.scalars = reduction.scalars(e, scalars, self.lanes)
        self.depth_bytes = e.builder.mul(self.depth, e.const(element_bytes(reduction.element)))

    def column(self, pixel: Value) -> Value:
        """The three elements of a column, combined; pixel points to the topmost."""
        e = self.e
        element = vector(self.reduction.element, self.lanes)
        rows = [pixel]
        for _ in range(1, _SIZE):
            rows.append(e.offset(rows[-1], self.row_bytes))
        return self.combined([self.reduction.widen(e, e.load(row, element), self.lanes) for row in rows])

    def combined(self, values: list[Value]) -> Value:
        total, *others = values
        for value in others:
            total = self.reduction.combine(self.e, total, value)
        return total

    def slide(self, starts: list[Value], store: Callable[[Value, Value], None], stride: int) -> None:
        """Set all outputs of vectors of channels that begin so many bytes into a pixel."""
        e, builder = self.e, self.e.builder
        shared = _SIZE - stride

        def columns(pixel: Value) -> list[Value]:
            at = e.offset(self.x, builder.mul(pixel, self.pixel_bytes))
            return [self.column(e.offset(at, start)) for start in starts]

        def window(output: Value, carried: list[Value]) -> list[Value]:
            pixel = builder.mul(output, e.const(stride))
            for column in range(shared, _SIZE):
                carried = [*carried, *columns(builder.add(pixel, e.const(column)))]
            to = e.offset(self.y, builder.mul(output, self.depth_bytes))
            for k, start in enumerate(starts):
                total = self.combined(carried[k :: len(starts)])
                store(self.reduction.finish(e, total, self.scalars), e.offset(to, start))
            return carried[stride * len(starts) :]

        first: list[Value] = []
        for column in range(shared):
            first += columns(e.const(column))
        e.loop(self.outputs, first, window)

    def run(self, stride: int) -> None:
        e, builder, lanes = self.e, self.e.builder, self.lanes
        vector_bytes = lanes * element_bytes(self.reduction.element)

        def blocks(vectors: int, begin: Value, end: Value) -> None:
            # The last vector ends with the channels: it may overlap the one before it.
            last = builder.sub(self.depth, e.const(lanes * vectors))

            def block(channel: Value, _: list[Value]) -> list[Value]:
                at = e.smin(channel, last)
                start = builder.mul(at, e.const(element_bytes(self.reduction.element)))
                starts = [builder.add(start, e.const(k * vector_bytes)) for k in range(vectors)]
                self.slide(starts, e.store, stride)
                return []

            e.loop(end, [], block, step=lanes * vectors, start=begin)

        def wide() -> None:
            stop = builder.and_(self.depth, e.const(-lanes * _SIDE_BY_SIDE))
            blocks(_SIDE_BY_SIDE, e.const(0), stop)
            blocks(1, stop, self.depth)

        def narrow() -> None:
            mask = e.first_lanes(lanes, self.depth)
            self.slide([e.const(0)], lambda value, to: e.masked_store(value, to, mask), stride)

        e.branch(builder.icmp_signed(">=", self.depth, e.const(lanes)), wide, narrow)


def _emit(reduction: Reduction) -> Callable[..., None]:
    def emit(e: Emitter, *arguments: Value) -> None:
        row = _Row(e, reduction, arguments)
        by_one = e.builder.icmp_signed("==", row.stride, e.const(1))
        e.branch(by_one, lambda: row.run(1), lambda: row.run(2))

    return emit


def _kernel(name: str, reduction: Reduction, scalars: list[types.Type]) -> Any:
    return microkernel(name, [types.int64] * 7 + scalars, _emit(reduction))


# All take (x, y, depth, outputs, row_bytes, pixel_bytes, stride, ...), x the address of the first
# window's first pixel, and set y[o * depth + c] for each o < outputs and c < depth; stride is 1 or 2.
# Elements are as wide as accumulators. The trailing arguments are those of the single windows.
max_row_f32 = _kernel("max_row_f32", MAX_F32, [types.float32] * 2)
max_row_i8 = _kernel("max_row_i8", MAX_I8, [types.int32] * 2)
max_row_u8 = _kernel("max_row_u8", MAX_U8, [types.int32] * 2)
average_row_f32 = _kernel("average_row_f32", AVERAGE_F32, [types.float32] * 3)
