"""Vector code for float32 rows that meet one and the same row, as pixels meet what each channel has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit, types

from ..element_functions import BROADCAST_RANK
from .language.simd import Emitter, Value, f32, microkernel, vector
from .language.target import target

_MIDDLE, _INNER = BROADCAST_RANK - 2, BROADCAST_RANK - 1
_SIDE_BY_SIDE = 4  # vectors of the repeated row that are held at a time
_SHORT = 512  # elements of a row, at most: longer ones are quick enough one by one
_MANY_ROWS = 8

Combine = Callable[[Emitter, Value, Value], Value]


def repeated_row(name: str, combine: Combine) -> Any:
    """A microkernel (a, b, out, rows, count, low, high) for dense rows of a and out, and one of b.

    out[r, c] = combine(a[r, c], b[c]), clamped; NaN stays. a and out may be the same. Reads as far
    past the end of a and b as OVERREAD_BYTES allow.
    """
    return microkernel(name, [types.int64] * 5 + [types.float32] * 2, _emit(combine))


def _emit(combine: Combine) -> Callable[..., None]:
    lanes = target().vector_bytes // 4
    element = vector(f32, lanes)

    def emit(e: Emitter, *arguments: Value) -> None:
        a, b, out, rows, count, low, high = arguments
        builder = e.builder
        limits = e.splat(low, lanes), e.splat(high, lanes)
        a, b, out = (e.pointer(address) for address in (a, b, out))
        row_bytes = builder.mul(count, e.const(4))

        def block(column: Value, vectors: int, store: Callable[[Value, Value], None]) -> None:
            """Compute some vectors of columns, for all rows."""
            starts = [
                builder.mul(builder.add(column, e.const(k * lanes)), e.const(4)) for k in range(vectors)
            ]
            held = [e.load(b, element, start) for start in starts]

            def row(r: Value, _: list[Value]) -> list[Value]:
                shift = builder.mul(r, row_bytes)
                at = [builder.add(shift, start) for start in starts]
                for place, x, y in zip(at, [e.load(a, element, place) for place in at], held, strict=True):
                    value = e.fmin(limits[1], e.fmax(limits[0], combine(e, x, y)))
                    store(value, e.offset(out, place))
                return []

            e.loop(rows, [], row)

        def whole(vectors: int) -> Callable[..., list[Value]]:
            def body(column: Value, _: list[Value]) -> list[Value]:
                block(column, vectors, lambda value, place: e.store(value, place))
                return []

            return body

        begin = e.const(0)
        for vectors in (_SIDE_BY_SIDE, 1):
            end = builder.and_(count, e.const(-lanes * vectors))
            e.loop(end, [], whole(vectors), step=lanes * vectors, start=begin)
            begin = end
        rest = builder.sub(count, begin)

        def tail() -> None:
            mask = e.first_lanes(lanes, rest)
            block(begin, 1, lambda value, place: e.masked_store(value, place, mask))

        e.branch(builder.icmp_signed(">", rest, e.const(0)), tail)

    return emit


def repeated_row_kernel(compute: Callable, rows_kernel: Any, limits: Any) -> Callable:
    """compute, a broadcast kernel, but with the microkernel where b is one short row for many of a.

    limits(block) gives the microkernel's last two arguments.
    """
    compute = njit(error_model="numpy")(compute)

    def kernel(block, chunk, chunks):
        rows, count = block.shape[_MIDDLE], block.shape[_INNER]
        for d in range(_MIDDLE):
            if block.shape[d] != 1:
                return compute(block, chunk, chunks)
        dense = block.a_strides[_INNER] == 1 and block.a_strides[_MIDDLE] == count
        repeated = block.b_strides[_INNER] == 1 and block.b_strides[_MIDDLE] == 0
        if not dense or not repeated or rows < _MANY_ROWS or count > _SHORT:
            return compute(block, chunk, chunks)
        row, last_row = rows * chunk // chunks, rows * (chunk + 1) // chunks
        at = row * count * 4
        low, high = limits(block)
        rows_kernel(block.a + at, block.b, block.out + at, last_row - row, count, low, high)
        return 0

    return kernel
