"""Vector code of 8-bit ADD and SUB over elements that follow one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from .language.operations import packed_bytes, packed_words
from .language.simd import Emitter, Value, i8, i16, i32, microkernel, vector
from .language.target import target

# The packs work within 128-bit lanes: group u of four elements of quarter q came to lie at 4 u + q, and half
# h's groups of eight at 2 u + h.
_OF_QUARTERS = [4 * unit + quarter for quarter in range(4) for unit in range(4)]
_OF_HALVES = [4 * unit + 2 * half + k for half in range(2) for unit in range(4) for k in range(2)]


def _packed(e: Emitter, halves: list[Value], zero: Value, signed: bool, order: list[int]) -> Value:
    """Two <32 x i16> to <64 x i8> in order: plus zero, saturated to 8 bits."""
    first, second = (e.call("llvm.sadd.sat.v32i16", vector(i16, 32), half, zero) for half in halves)
    packed = e.builder.bitcast(packed_bytes(e, first, second, signed), vector(i32, 16))
    return e.builder.bitcast(e.shuffle(packed, packed, order), vector(i8, 64))


def store_bytes(
    e: Emitter,
    signed: bool,
    total: Callable[[Value], Value],
    out: Value,
    count: Value,
    limits: tuple[Value, Value, Value],
    words: Callable[[Value], list[Value]] | None = None,
) -> None:
    """out[i] = clamp(zero + total(i)) for count bytes; limits are zero, low and high (i32).

    total(i) emits the totals of a vector of 32-bit lanes from element i on, zero is of 16 bits. With AVX512
    words(i), where it is given, emits those of 64 elements, saturated to 16 bits, as two vectors.
    """
    builder, lanes = e.builder, target().vector_bytes // 4
    zero, low, high = (e.splat(limit, lanes) for limit in limits)

    def narrow(value: Value) -> Value:
        value = builder.add(value, zero)
        return builder.trunc(e.smin(e.smax(value, low), high), vector(i8, lanes))

    start = e.const(0)
    if target().avx512:
        zero_i16 = e.splat(builder.trunc(limits[0], i16), 32)
        low_i8, high_i8 = (e.splat(builder.trunc(limit, i8), 64) for limit in limits[1:])
        least, most = (e.smin, e.smax) if signed else (e.umin, e.umax)

        def four(i: Value, _: list[Value]) -> list[Value]:
            if words is not None:
                packed = _packed(e, words(i), zero_i16, signed, _OF_HALVES)
            else:
                quarters = [total(builder.add(i, e.const(16 * k))) for k in range(4)]
                halves = [packed_words(e, *quarters[k : k + 2]) for k in (0, 2)]
                packed = _packed(e, halves, zero_i16, signed, _OF_QUARTERS)
            e.store(least(most(packed, low_i8), high_i8), out, i)
            return []

        start = builder.and_(count, e.const(-64))
        e.loop(start, [], four, step=64)

    def one(i: Value, _: list[Value]) -> list[Value]:
        e.store(narrow(total(i)), out, i)
        return []

    whole = builder.and_(count, e.const(-lanes))
    e.loop(whole, [], one, step=lanes, start=start)
    rest = builder.sub(count, whole)

    def tail() -> None:
        e.masked_store(narrow(total(whole)), e.offset(out, whole), e.first_lanes(lanes, rest))

    e.branch(builder.icmp_signed(">", rest, e.const(0)), tail)


def widened(e: Emitter, signed: bool, source: Value, offset: Value) -> Value:
    """A vector of 32-bit lanes of the bytes from an offset on."""
    lanes = target().vector_bytes // 4
    widen = e.builder.sext if signed else e.builder.zext
    return widen(e.load(source, vector(i8, lanes), offset), vector(i32, lanes))


def _emit(signed: bool, both: bool) -> Callable[..., None]:
    """emit(e, [a,] b, out, count, [a_multiplier,] b_multiplier, bias, shift, zero, low, high)."""

    def emit(e: Emitter, *arguments: Value) -> None:
        builder = e.builder
        *sources, out = [e.pointer(address) for address in arguments[: 2 + both]]
        count, *scalars = arguments[2 + both :]
        lanes = target().vector_bytes // 4
        *multipliers, bias, shift = [e.splat(s, lanes) for s in scalars[:-3]]

        def scaled(offset: Value) -> Value:
            total = bias
            for source, multiplier in zip(sources, multipliers, strict=True):
                total = builder.add(total, builder.mul(widened(e, signed, source, offset), multiplier))
            return builder.ashr(total, shift)

        zero, low, high = scalars[-3:]
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
