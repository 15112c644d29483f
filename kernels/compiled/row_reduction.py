"""Vector code over the elements of one row: sums, largest and smallest elements, exponentials."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from numba import types

from .language import vector_functions
from .language.operations import sums_of_8
from .language.simd import Emitter, Value, constant, f32, i8, i16, i32, i64, microkernel, vector
from .language.target import target

# Vectors per turn of the loop, each with a total of its own.
_SIDE_BY_SIDE = 4
# Lanes of float32, which are added in the same order on every target, however many of them a register has.
_FLOATS = 16

Combine = Callable[[Emitter, Value, Value], Value]


class Row(NamedTuple):
    """Totals begin at `start` lanes of `total`; widened(x) vectors are combined into them.

    Lanes past the row's end are read as `neutral` elements.
    """

    element: Any
    neutral: float
    total: Any
    start: float
    widened: Callable[[Emitter, Value], Value]
    combine: Combine


def _itself(e: Emitter, x: Value) -> Value:
    return x


def _lanes(element: Any) -> int:
    return target().vector_bytes // (4 if element == f32 else element.width // 8)


def _first(e: Emitter, element: Any, count: Value) -> Value:
    """The first `count` lanes of a vector, as a mask."""
    lanes = _lanes(element)
    index_type = {f32: i32}.get(element, element)
    index = constant(vector(index_type, lanes), list(range(lanes)))
    return e.builder.icmp_unsigned("<", index, e.splat(e.builder.trunc(count, index_type), lanes))


def _side_by_side(
    e: Emitter, count: Value, lanes: int, initial: Value, combine: Combine, element: Callable[..., Value]
) -> tuple[list[Value], Value]:
    """Totals of element(i) for whole vectors, and where the rest begins, which is less than a vector."""
    builder, totals, begin = e.builder, [initial] * _SIDE_BY_SIDE, e.const(0)
    for vectors in (_SIDE_BY_SIDE, 1):
        stop = builder.and_(count, e.const(-lanes * vectors))

        def turn(i: Value, carried: list[Value], vectors: int = vectors) -> list[Value]:
            values = [element(builder.add(i, e.const(k * lanes))) for k in range(vectors)]
            return [combine(e, *pair) for pair in zip(carried, values, strict=True)]

        totals[:vectors] = e.loop(stop, totals[:vectors], turn, step=lanes * vectors, start=begin)
        begin = stop
    return totals, begin


def _totals(e: Emitter, row: Row, x: Value, count: Value) -> Value:
    """One vector of totals."""
    builder, lanes = e.builder, _lanes(row.element)
    type_ = vector(row.element, lanes)
    base = e.pointer(x)

    def element(i: Value, mask: Value = None) -> Value:
        nbytes = builder.mul(i, e.const(target().vector_bytes // lanes))
        loaded = e.load(e.offset(base, nbytes), type_)
        if mask is not None:
            loaded = builder.select(mask, loaded, constant(type_, row.neutral))
        return row.widened(e, loaded)

    initial = constant(row.total, row.start)
    totals, begin = _side_by_side(e, count, lanes, initial, row.combine, element)
    # The rest is less than a vector, and is read together with what lies past the row's end.
    rest = builder.sub(count, begin)
    totals[1] = row.combine(e, totals[1], element(begin, _first(e, row.element, rest)))
    pairs = [row.combine(e, totals[k], totals[k + 1]) for k in (0, 2)]
    return row.combine(e, *pairs)


def _across_lanes(e: Emitter, x: Value, combine: Combine) -> Value:
    lanes = x.type.count
    while lanes > 1:
        lanes //= 2
        upper = e.shuffle(x, x, [k + lanes for k in range(lanes)])
        x = combine(e, e.shuffle(x, x, list(range(lanes))), upper)
    return e.builder.extract_element(x, e.const(0, i32))


def _larger(e: Emitter, x: Value, y: Value) -> Value:
    return e.fmax(x, y)


def _smaller(e: Emitter, x: Value, y: Value) -> Value:
    return e.fmin(x, y)


def _flipped(e: Emitter, x: Value) -> Value:
    return e.builder.not_(x)


def _smallest_u8(e: Emitter, x: Value, count: Value) -> Value:
    """As the complement of the largest complement, which is found faster across lanes."""
    largest = _of_integers("umax")
    row = Row(i8, -1, vector(i8, _lanes(i8)), 0, _flipped, largest)
    found = _across_lanes(e, _totals(e, row, x, count), largest)
    return e.builder.zext(e.builder.not_(found), i32)


def _extremum(name: str, element: Any, start: float, combine: Combine) -> Any:
    """A microkernel (x, count) that gives the extremum as an int32 or a float32."""

    def emit(e: Emitter, x: Value, count: Value) -> Value:
        row = Row(element, start, vector(element, _lanes(element)), start, _itself, combine)
        found = _across_lanes(e, _totals(e, row, x, count), combine)
        if element == f32:
            return found
        return e.builder.zext(found, i32) if name.endswith("u8") else e.builder.sext(found, i32)

    result = types.float32 if element == f32 else types.int32
    return microkernel(name, [types.int64, types.int64], emit, result)


def _of_integers(operation: str) -> Combine:
    return lambda e, x, y: getattr(e, operation)(x, y)


def _sums_of_4(e: Emitter, x: Value) -> Value:
    """Sums of the quarters of a vector of unsigned bytes, as i32."""
    count = x.type.count // 4
    quarters = [e.shuffle(x, x, list(range(k * count, k * count + count))) for k in range(4)]
    wide = [e.builder.zext(quarter, vector(i32, count)) for quarter in quarters]
    return e.builder.add(e.builder.add(wide[0], wide[1]), e.builder.add(wide[2], wide[3]))


def _add(e: Emitter, x: Value, y: Value) -> Value:
    return e.builder.add(x, y)


def _sum(name: str, signed: bool) -> Any:
    """A microkernel (x, count) that gives the sum of a row of bytes as an int32."""

    def emit(e: Emitter, x: Value, count: Value) -> Value:
        builder = e.builder
        total_type = i64 if target().avx2 else i32
        add_up = sums_of_8 if target().avx2 else _sums_of_4

        def widened(e: Emitter, loaded: Value) -> Value:
            if signed:  # x + 128
                loaded = builder.xor(loaded, constant(loaded.type, -128))
            return add_up(e, loaded)

        lanes = target().vector_bytes // (total_type.width // 8)
        neutral = -128 if signed else 0
        row = Row(i8, neutral, vector(total_type, lanes), 0, widened, _add)
        total = _across_lanes(e, _totals(e, row, x, count), _add)
        if total_type == i64:
            total = builder.trunc(total, i32)
        if signed:
            total = builder.sub(total, builder.mul(builder.trunc(count, i32), e.const(128, i32)))
        return total

    return microkernel(name, [types.int64, types.int64], emit, types.int32)


_INFINITY = float("inf")

# (x, count): the extremum of a row, infinite or the type's own end when it is empty. A NaN of
# float32 takes the place of what comes before it in its lane, and yields to what comes after.
EXTREMUM_ROWS = {
    "max_f32": _extremum("largest_f32", f32, -_INFINITY, _larger),
    "min_f32": _extremum("smallest_f32", f32, _INFINITY, _smaller),
    "max_i8": _extremum("largest_i8", i8, -128, _of_integers("smax")),
    "min_i8": _extremum("smallest_i8", i8, 127, _of_integers("smin")),
    "max_u8": _extremum("largest_u8", i8, 0, _of_integers("umax")),
    "min_u8": microkernel("smallest_u8", [types.int64, types.int64], _smallest_u8, types.int32),
    "max_i16": _extremum("largest_i16", i16, -32768, _of_integers("smax")),
    "min_i16": _extremum("smallest_i16", i16, 32767, _of_integers("smin")),
}

# (x, count): the sum of a row, modulo 2^32.
total_i8 = _sum("total_i8", signed=True)
total_u8 = _sum("total_u8", signed=False)


# --- float32: sums in a fixed order, and exponentials
def _add_f32(e: Emitter, x: Value, y: Value) -> Value:
    return e.builder.fadd(x, y)


def _reduce(e: Emitter, count: Value, start: float, combine: Combine, element: Callable[..., Value]) -> Value:
    """Combine element(i, mask) for i in steps of a vector; lanes left out of the mask must be `start`."""
    initial = constant(vector(f32, _FLOATS), start)
    totals, begin = _side_by_side(e, count, _FLOATS, initial, combine, element)
    # The rest is less than a vector, and is read together with what lies past the row's end.
    rest = e.first_lanes(_FLOATS, e.builder.sub(count, begin))
    totals.append(element(begin, rest))
    while len(totals) > 1:
        totals = [
            combine(e, totals[k], totals[k + 1]) if k + 1 < len(totals) else totals[k]
            for k in range(0, len(totals), 2)
        ]
    return _across_lanes(e, totals[0], combine)


def _at(e: Emitter, base: Value, i: Value) -> Value:
    return e.offset(base, e.builder.mul(i, e.const(4)))


def _emit_plain(start: float, combine: Combine) -> Callable[..., Value]:
    def emit(e: Emitter, x: Value, count: Value) -> Value:
        base = e.pointer(x)
        type_ = vector(f32, _FLOATS)

        def element(i: Value, mask: Value = None) -> Value:
            loaded = e.load(_at(e, base, i), type_)
            return loaded if mask is None else e.builder.select(mask, loaded, constant(type_, start))

        return _reduce(e, count, start, combine, element)

    return emit


def _exponentials(exp: Callable[[Emitter, Value], Value]) -> Callable[..., Value]:
    def emit(e: Emitter, x: Value, y: Value, count: Value, largest: Value, beta: Value) -> Value:
        source, out = e.pointer(x), e.pointer(y)
        type_ = vector(f32, _FLOATS)
        largest, beta = e.splat(largest, _FLOATS), e.splat(beta, _FLOATS)

        def element(i: Value, mask: Value = None) -> Value:
            difference = e.builder.fsub(e.load(_at(e, source, i), type_), largest)
            value = exp(e, e.builder.fmul(difference, beta))
            if mask is None:
                e.store(value, _at(e, out, i))
                return value
            e.masked_store(value, _at(e, out, i), mask)
            return e.builder.select(mask, value, constant(type_, 0.0))

        return _exponential_sum(e, count, element)

    return emit


def _exponential_sum(e: Emitter, count: Value, element: Callable[..., Value]) -> Value:
    """In XNNPACK's order on AVX-512: two totals while there are four vectors, then one."""
    builder = e.builder

    def turn(i: Value, carried: list[Value]) -> list[Value]:
        values = [element(builder.add(i, e.const(k * _FLOATS))) for k in range(4)]
        return [_add_f32(e, _add_f32(e, t, values[k]), values[k + 2]) for k, t in enumerate(carried)]

    begin, zero = builder.and_(count, e.const(-4 * _FLOATS)), constant(vector(f32, _FLOATS), 0.0)
    pair = e.loop(begin, [zero, zero], turn, step=4 * _FLOATS, start=e.const(0))
    end = builder.and_(count, e.const(-_FLOATS))
    [total] = e.loop(
        end, [_add_f32(e, *pair)], lambda i, t: [_add_f32(e, t[0], element(i))], step=_FLOATS, start=begin
    )
    rest = element(end, e.first_lanes(_FLOATS, builder.sub(count, end)))
    return _across_lanes(e, _add_f32(e, total, rest), _add_f32)


_ROW = [types.int64, types.int64]

# (x, count): the sum of a row, in an order of its own, which all targets share.
sum_row_f32: Any = microkernel("sum_row_f32", _ROW, _emit_plain(0.0, _add_f32), types.float32)

# (x, count): the largest element of a row; the lowest float32 when it is empty.
max_row_f32: Any = microkernel(
    "max_row_f32", _ROW, _emit_plain(-3.4028234663852886e38, _larger), types.float32
)

_SCALED_ROW = [types.int64, *_ROW, types.float32, types.float32]

# (x, y, count, largest, beta): y[i] = e^(beta (x[i] - largest)), 0 for subnormal ones; returns their sum.
# y may be x. beta must be at least 0.
exponentials_row_f32: Any = microkernel(
    "exponentials_row_f32", _SCALED_ROW, _exponentials(vector_functions.exp_of_negative), types.float32
)

# The same for any beta: where it is negative, powers and their sum may be infinite.
any_exponentials_row_f32: Any = microkernel(
    "any_exponentials_row_f32", _SCALED_ROW, _exponentials(vector_functions.exp), types.float32
)


def _emit_shares(e: Emitter, y: Value, count: Value, share: Value) -> None:
    base, type_, begin = e.pointer(y), vector(f32, _FLOATS), e.const(0)
    share = e.splat(share, _FLOATS)

    def part(place: Value) -> Value:
        product = e.builder.fmul(e.load(place, type_), share)
        is_small = e.builder.fcmp_ordered("<", product, constant(type_, 2.0**-126))
        return e.builder.select(is_small, constant(type_, 0.0), product)

    for vectors in (_SIDE_BY_SIDE, 1):
        stop = e.builder.and_(count, e.const(-_FLOATS * vectors))

        def turn(i: Value, carried: list[Value], vectors: int = vectors) -> list[Value]:
            for k in range(vectors):
                place = _at(e, base, e.builder.add(i, e.const(k * _FLOATS)))
                e.store(part(place), place)
            return carried

        e.loop(stop, [], turn, step=_FLOATS * vectors, start=begin)
        begin = stop
    place, rest = _at(e, base, begin), e.first_lanes(_FLOATS, e.builder.sub(count, begin))
    e.masked_store(part(place), place, rest)


# (y, count, share): y[i] *= share, 0 for subnormal ones; y holds no negative numbers.
shares_row_f32: Any = microkernel("shares_row_f32", [types.int64, types.int64, types.float32], _emit_shares)
