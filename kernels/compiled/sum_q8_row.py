"""Vector code of 8-bit ADD and SUB over elements that follow one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types

from .language.operations import packed_bytes, packed_words
from .language.simd import Emitter, Value, i8, i16, i32, microkernel, vector
from .language.target import target


def _pack(e: Emitter, quarters: list[Value], zero: Value, signed: bool) -> Value:
    """Four <16 x i32> to <64 x i8> in order: saturated to 16 bits, plus zero, saturated to 8."""
    halves = []
    for k in (0, 2):
        half = packed_words(e, quarters[k], quarters[k + 1])
        halves.append(e.call("llvm.sadd.sat.v32i16", vector(i16, 32), half, zero))
    packed = e.builder.bitcast(packed_bytes(e, halves[0], halves[1], signed), vector(i32, 16))
    # The packs work within 128-bit lanes: group u of quarter q came to lie at 4 u + q.
    order = [4 * unit + quarter for quarter in range(4) for unit in range(4)]
    return e.builder.bitcast(e.shuffle(packed, packed, order), vector(i8, 64))


def _emit(signed: bool, both: bool) -> Callable[..., None]:
    """emit(e, [a,] b, out, count, [a_multiplier,] b_multiplier, bias, shift, zero, low, high)."""

    def emit(e: Emitter, *arguments: Value) -> None:
        builder = e.builder
        pointers = [e.pointer(address) for address in arguments[: 2 + both]]
        count = arguments[2 + both]
        scalars = arguments[3 + both :]
        sources, out = pointers[:-1], pointers[-1]
        lanes = target().vector_bytes // 4
        *multipliers, bias, shift, zero, low, high = [e.splat(s, lanes) for s in scalars]
        widen = builder.sext if signed else builder.zext

        def scaled(offset: Value) -> Value:
            total = bias
            for source, multiplier in zip(sources, multipliers, strict=True):
                x = widen(e.load(source, vector(i8, lanes), offset), vector(i32, lanes))
                total = builder.add(total, builder.mul(x, multiplier))
            return builder.ashr(total, shift)

        def narrow(value: Value) -> Value:
            value = builder.add(value, zero)
            return builder.trunc(e.smin(e.smax(value, low), high), vector(i8, lanes))

        start = e.const(0)
        if target().avx512:
            zero_i16 = e.splat(builder.trunc(scalars[-3], i16), 32)
            low_i8, high_i8 = (e.splat(builder.trunc(s, i8), 64) for s in scalars[-2:])
            least, most = (e.smin, e.smax) if signed else (e.umin, e.umax)

            def four(i: Value, _: list[Value]) -> list[Value]:
                quarters = [scaled(builder.add(i, e.const(16 * k))) for k in range(4)]
                packed = _pack(e, quarters, zero_i16, signed)
                e.store(least(most(packed, low_i8), high_i8), out, i)
                return []

            start = builder.and_(count, e.const(-64))
            e.loop(start, [], four, step=64)

        def one(i: Value, _: list[Value]) -> list[Value]:
            e.store(narrow(scaled(i)), out, i)
            return []

        whole = builder.and_(count, e.const(-lanes))
        e.loop(whole, [], one, step=lanes, start=start)
        rest = builder.sub(count, whole)

        def tail() -> None:
            e.masked_store(narrow(scaled(whole)), e.offset(out, whole), e.first_lanes(lanes, rest))

        e.branch(builder.icmp_signed(">", rest, e.const(0)), tail)

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
