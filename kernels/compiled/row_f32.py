"""Vector code over one row of float32: sum, largest element, exponentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from .language import vector_functions
from .language.simd import Emitter, Value, constant, f32, i32, microkernel, vector
from .language.target import target

# Vectors per turn of the loop, each with a total of its own.
_SIDE_BY_SIDE = 4

Combine = Callable[[Emitter, Value, Value], Value]


def _add(e: Emitter, x: Value, y: Value) -> Value:
    return e.builder.fadd(x, y)


def _larger(e: Emitter, x: Value, y: Value) -> Value:
    return e.fmax(x, y)


def _reduce(
    e: Emitter, count: Value, start: float, combine: Combine, element: Callable[[Value, Value], Value]
) -> Value:
    """Combine element(i, mask) for i in steps of a vector; lanes left out of the mask must be `start`."""
    builder = e.builder
    lanes = target().vector_bytes // 4
    initial = constant(vector(f32, lanes), start)
    totals = [initial] * _SIDE_BY_SIDE
    begin = e.const(0)
    for vectors in (_SIDE_BY_SIDE, 1):
        stop = builder.and_(count, e.const(-lanes * vectors))

        def turn(i: Value, carried: list[Value], vectors: int = vectors) -> list[Value]:
            indices = [builder.add(i, e.const(k * lanes)) for k in range(vectors)]
            values = [element(index, None) for index in indices]
            return [combine(e, *pair) for pair in zip(carried, values, strict=True)]

        totals[:vectors] = e.loop(stop, totals[:vectors], turn, step=lanes * vectors, start=begin)
        begin = stop
    # The rest is less than a vector, and is read together with what lies past the row's end.
    rest = e.first_lanes(lanes, builder.sub(count, begin))
    totals.append(element(begin, rest))
    while len(totals) > 1:
        totals = [
            combine(e, totals[k], totals[k + 1]) if k + 1 < len(totals) else totals[k]
            for k in range(0, len(totals), 2)
        ]
    return _across_lanes(e, totals[0], combine)


def _across_lanes(e: Emitter, x: Value, combine: Combine) -> Value:
    lanes = x.type.count
    while lanes > 1:
        lanes //= 2
        upper = e.shuffle(x, x, [k + lanes for k in range(lanes)])
        x = combine(e, e.shuffle(x, x, list(range(lanes))), upper)
    return e.builder.extract_element(x, e.const(0, i32))


def _at(e: Emitter, base: Value, i: Value) -> Value:
    return e.offset(base, e.builder.mul(i, e.const(4)))


def _emit_plain(start: float, combine: Combine) -> Callable[..., Value]:
    def emit(e: Emitter, x: Value, count: Value) -> Value:
        base = e.pointer(x)
        type_ = vector(f32, target().vector_bytes // 4)

        def element(i: Value, mask: Value) -> Value:
            loaded = e.load(_at(e, base, i), type_)
            return loaded if mask is None else e.builder.select(mask, loaded, constant(type_, start))

        return _reduce(e, count, start, combine, element)

    return emit


def _emit_exponentials(e: Emitter, x: Value, y: Value, count: Value, largest: Value, beta: Value) -> Value:
    source, out = e.pointer(x), e.pointer(y)
    lanes = target().vector_bytes // 4
    type_ = vector(f32, lanes)
    largest, beta = e.splat(largest, lanes), e.splat(beta, lanes)

    def element(i: Value, mask: Value) -> Value:
        difference = e.builder.fsub(e.load(_at(e, source, i), type_), largest)
        value = vector_functions.exp(e, e.builder.fmul(difference, beta))
        if mask is None:
            e.store(value, _at(e, out, i))
            return value
        e.masked_store(value, _at(e, out, i), mask)
        return e.builder.select(mask, value, constant(type_, 0.0))

    return _reduce(e, count, 0.0, _add, element)


_ROW = [types.int64, types.int64]

# (x, count): the sum of a row, in an order of its own.
sum_row_f32: Any = microkernel("sum_row_f32", _ROW, _emit_plain(0.0, _add), types.float32)

# (x, count): the largest element of a row; the lowest float32 when it is empty.
max_row_f32: Any = microkernel(
    "max_row_f32", _ROW, _emit_plain(-3.4028234663852886e38, _larger), types.float32
)

# (x, y, count, largest, beta): y[i] = e^(beta (x[i] - largest)); returns their sum. y may be x.
exponentials_row_f32: Any = microkernel(
    "exponentials_row_f32",
    [types.int64, *_ROW, types.float32, types.float32],
    _emit_exponentials,
    types.float32,
)
