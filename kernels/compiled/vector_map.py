"""Vector loops over one array: y[i] = function(x[i])."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numba import types

from .language.simd import Emitter, Value, f32, microkernel, vector
from .language.target import target

# Vectors per turn of the loop, so that independent operations overlap.
_SIDE_BY_SIDE = 2

Function = Callable[..., Value]


def _bytes(element: Any) -> int:
    return 4 if element == f32 else element.width // 8


def _emit(source: Any, result: Any, function: Function) -> Callable[..., None]:
    def emit(e: Emitter, x: Value, y: Value, count: Value, *scalars: Value) -> None:
        builder = e.builder
        lanes = target().vector_bytes // 4
        parameters = [e.splat(scalar, lanes) for scalar in scalars]
        x, y = e.pointer(x), e.pointer(y)

        def at(base: Value, i: Value, element: Any) -> Value:
            return e.offset(base, builder.mul(i, e.const(_bytes(element))))

        def computed(i: Value) -> Value:
            return function(e, e.load(at(x, i, source), vector(source, lanes)), *parameters)

        def turn(vectors: int) -> Callable[..., list[Value]]:
            def body(i: Value, _: list[Value]) -> list[Value]:
                # All are read before any is written: y may be x.
                starts = [builder.add(i, e.const(k * lanes)) for k in range(vectors)]
                for start, value in zip(starts, [computed(start) for start in starts], strict=True):
                    e.store(value, at(y, start, result))
                return []

            return body

        begin = e.const(0)
        for vectors in (_SIDE_BY_SIDE, 1):
            stop = builder.and_(count, e.const(-lanes * vectors))
            e.loop(stop, [], turn(vectors), step=lanes * vectors, start=begin)
            begin = stop
        rest = builder.sub(count, begin)

        def tail() -> None:
            e.masked_store(computed(begin), at(y, begin, result), e.first_lanes(lanes, rest))

        e.branch(builder.icmp_signed(">", rest, e.const(0)), tail)

    return emit


def map_row(
    name: str,
    function: Function,
    scalars: Sequence[types.Type] = (),
    source: Any = f32,
    result: Any = f32,
) -> Any:
    """A microkernel (x, y, count, *scalars) that sets y[i] = function(e, x[i], *scalars).

    x and y are addresses of `source` and `result` elements, and may be the same. function emits
    code for vectors of 32-bit lanes' count. Reads past the end of x as OVERREAD_BYTES allow.
    """
    arguments = [types.int64] * 3 + list(scalars)
    return microkernel(name, arguments, _emit(source, result, function))
