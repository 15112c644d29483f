"""Vector code of 8-bit ADD and SUB over elements that follow one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from .language.operations import halves_of, packed_bytes, packed_words
from .language.simd import Emitter, Value, i8, i16, i32, microkernel, suffix, vector
from .language.target import target


def _packed(e: Emitter, halves: list[Value], zero: Value, signed: bool, order: Callable[[int], int]) -> Value:
    """Two vectors of 16 bits as bytes in order: plus zero, saturated to 8 bits.

    The packs work within 128-bit lanes: four bytes of what came `place`th lie at order(place).
    """
    words, lanes = halves[0].type, halves[0].type.count // 2
    first, second = (e.call(f"llvm.sadd.sat.{suffix(words)}", words, half, zero) for half in halves)
    packed = e.builder.bitcast(packed_bytes(e, first, second, signed), vector(i32, lanes))
    ordered = e.shuffle(packed, packed, [order(place) for place in range(lanes)])
    return e.builder.bitcast(ordered, vector(i8, 4 * lanes))


def _quarters_of(e: Emitter, total: Callable[[Value, int], Value], i: Value, lanes: int) -> list[Value]:
    """The totals from element i on as four vectors."""
    if target().arch == "aarch64":  # where one load of bytes is widened in six instructions, four in twelve
        return [quarter for half in halves_of(e, total(i, 4 * lanes)) for quarter in halves_of(e, half)]
    return [total(e.builder.add(i, e.const(k * lanes)), lanes) for k in range(4)]


def store_bytes(
    e: Emitter,
    signed: bool,
    total: Callable[[Value, int], Value],
    out: Value,
    count: Value,
    limits: tuple[Value, Value, Value],
    words: Callable[[Value], list[Value]] | None = None,
) -> None:
    """out[i] = clamp(zero + total(i)) for count bytes; limits are zero, low and high (i32).

    total(i, lanes) emits so many totals of 32 bits from element i on, zero is of 16 bits. With AVX512
    words(i), where it is given, emits those of 64 elements, saturated to 16 bits, as two vectors.
    """
    builder, lanes = e.builder, target().vector_bytes // 4
    zero, low, high = (e.splat(limit, lanes) for limit in limits)
    zero_i16 = e.splat(builder.trunc(limits[0], i16), 2 * lanes)
    low_i8, high_i8 = (e.splat(builder.trunc(limit, i8), 4 * lanes) for limit in limits[1:])
    least, most = (e.smin, e.smax) if signed else (e.umin, e.umax)
    parts = lanes // 4  # of 128 bits

    def narrow(value: Value) -> Value:
        value = builder.add(value, zero)
        return builder.trunc(e.smin(e.smax(value, low), high), vector(i8, lanes))

    def four(i: Value, _: list[Value]) -> list[Value]:
        if words is not None and target().avx512:
            # Half h's groups of eight lie at 2 part + h.
            halves, order = words(i), lambda k: k % (2 * parts) // 2 * 4 + k // (2 * parts) * 2 + k % 2
        else:
            # Quarter q's groups of four lie at 4 part + q.
            quarters = _quarters_of(e, total, i, lanes)
            halves = [packed_words(e, *quarters[k : k + 2]) for k in (0, 2)]
            order = lambda k: k % parts * 4 + k // parts  # noqa: E731
        packed = _packed(e, halves, zero_i16, signed, order)
        e.store(least(most(packed, low_i8), high_i8), out, i)
        return []

    start = builder.and_(count, e.const(-4 * lanes))
    e.loop(start, [], four, step=4 * lanes)

    def one(i: Value, _: list[Value]) -> list[Value]:
        e.store(narrow(total(i, lanes)), out, i)
        return []

    whole = builder.and_(count, e.const(-lanes))
    e.loop(whole, [], one, step=lanes, start=start)
    rest = builder.sub(count, whole)

    def tail() -> None:
        e.masked_store(narrow(total(whole, lanes)), e.offset(out, whole), e.first_lanes(lanes, rest))

    e.branch(builder.icmp_signed(">", rest, e.const(0)), tail)


def _emit(signed: bool, both: bool) -> Callable[..., None]:
    """emit(e, [a,] b, out, count, [a_multiplier,] b_multiplier, bias, shift, zero, low, high)."""

    def emit(e: Emitter, *arguments: Value) -> None:
        builder = e.builder
        *sources, out = [e.pointer(address) for address in arguments[: 2 + both]]
        count, *multipliers, bias, shift, zero, low, high = arguments[2 + both :]
        widen = builder.sext if signed else builder.zext

        def scaled(offset: Value, lanes: int) -> Value:
            total = e.splat(bias, lanes)
            for source, multiplier in zip(sources, multipliers, strict=True):
                x = widen(e.load(source, vector(i8, lanes), offset), vector(i32, lanes))
                total = builder.add(total, builder.mul(x, e.splat(multiplier, lanes)))
            return builder.ashr(total, e.splat(shift, lanes))

        store_bytes(e, signed, scaled, out, count, (zero, low, high))

    return emit


def _kernel(signed: bool, both: bool) -> Any:
    name = f"{'sum' if both else 'scale'}_row_{'i8' if signed else 'u8'}"
    operands = 1 + both
    arguments = [types.int64] * (operands + 2) + [types.int32] * (operands + 5)
    return microkernel(name, arguments, _emit(signed, both))


def sum_rows(signed: bool) -> tuple[Any, Any]:
    """Microkernels of int8 or uint8 rows: of two, and of one when the bias includes the other's one element.

    (a, b, out, count, a_multiplier, b_multiplier, bias, shift, zero, low, high) sets out[i] =
    clamp(zero + ((a[i] * a_multiplier + b[i] * b_multiplier + bias) >> shift)); the second takes no a.
    Reads past the end of a and b, as far as OVERREAD_BYTES allow; out may be a or b.
    """
    return _kernel(signed, both=True), _kernel(signed, both=False)
