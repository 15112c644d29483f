"""Vector requantization: 8-bit outputs from int32 accumulators, as emitted code.

Where a kernel finds what it needs: per output channel in rows of 32-bit lanes (bias first, then
the ROWS of its rounding), and for the whole operator in the OUTPUT block.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..contraction.blocks import (
    FLIP,
    HALF_ROW,
    HIGH_16,
    HIGH_32,
    LEFT_ROW,
    LOW_16,
    LOW_32,
    MULTIPLIER_ROW,
    RIGHT_ROW,
    SCALE_ROW,
    SIGN_ROW,
    SIGNED_HIGH_8,
    SIGNED_LOW_8,
    SIGNED_ZERO_POINT_16,
    UNFLIP,
    ZERO_POINT_16,
    ZERO_POINT_32,
)
from ..requantize import FLOAT_ROUNDING
from .language.operations import packed_bytes, packed_words, round_even
from .language.simd import Emitter, Value, constant, f32, i8, i16, i32, i64, suffix, vector
from .language.target import target


class ChannelRows:
    """The rows of one block of channels: read(row, lanes type) loads the lanes of one row."""

    def __init__(self, e: Emitter, base: Value, row_bytes: int, starts: Sequence[int]) -> None:
        self.e, self.base, self.row_bytes, self.starts = e, base, row_bytes, starts

    def read(self, row: int, element: object, lanes: int) -> list[Value]:
        """One vector for each start."""
        type_ = vector(element, lanes)
        return [self.e.load(self.base, type_, row * self.row_bytes + start) for start in self.starts]


def requantized(e: Emitter, acc: Value, rounding: int, rows: dict[int, Value], output: Value) -> Value:
    """acc times its channels' scales, rounded: int32 lanes, not yet clamped."""
    if rounding == FLOAT_ROUNDING:
        return _float_rounded(e, acc, rows[SCALE_ROW])
    return _fixed_rounded(e, acc, rows)


def rounding_rows(rounding: int) -> dict[int, object]:
    """The rows (with their element types) that a rounding reads."""
    if rounding == FLOAT_ROUNDING:
        return {SCALE_ROW: f32}
    return dict.fromkeys((MULTIPLIER_ROW, LEFT_ROW, HALF_ROW, RIGHT_ROW, SIGN_ROW), i32)


def _float_rounded(e: Emitter, acc: Value, scale: Value) -> Value:
    product = e.builder.fmul(e.builder.sitofp(acc, vector(f32, acc.type.count)), scale)
    return round_even(e, product)


def _fixed_rounded(e: Emitter, acc: Value, rows: dict[int, Value]) -> Value:
    b = e.builder
    high = _high_product(e, b.shl(acc, rows[LEFT_ROW]), rows[MULTIPLIER_ROW])
    # The sign row is -1 where a tie is to be rounded away from zero, 0 where upwards.
    sign = b.and_(b.ashr(high, e.const(31, acc.type)), rows[SIGN_ROW])
    return b.ashr(b.add(b.add(high, rows[HALF_ROW]), sign), rows[RIGHT_ROW])


def _high_product(e: Emitter, x: Value, multiplier: Value) -> Value:
    """(x * multiplier + 2**30) >> 31 in each lane."""
    b, lanes = e.builder, x.type.count
    wide = vector(i64, lanes // 2)
    x64, m64 = b.bitcast(x, wide), b.bitcast(multiplier, wide)
    half, c31, c32 = (e.const(value, wide) for value in (1 << 30, 31, 32))

    def low_word(v: Value) -> Value:
        return b.ashr(b.shl(v, c32), c32)

    even = b.add(b.mul(low_word(x64), low_word(m64)), half)
    odd = b.add(b.mul(b.ashr(x64, c32), b.ashr(m64, c32)), half)
    even, odd = b.lshr(even, c31), b.shl(odd, e.const(1, wide))
    order = [i if i % 2 == 0 else lanes + i for i in range(lanes)]
    return e.shuffle(b.bitcast(even, x.type), b.bitcast(odd, x.type), order)


def bytes_of_pair(e: Emitter, first: Value, second: Value, output: Value) -> Value:
    """<32 x i8> from two <16 x i32>, clamped; 128-bit lane L holds first[4L..], then second[4L..]."""
    b = e.builder
    words = vector(i16, 32)
    packed = packed_words(e, first, second)
    zero_point, low, high = (e.load(output, words, at) for at in (ZERO_POINT_16, LOW_16, HIGH_16))
    packed = e.call("llvm.sadd.sat.v32i16", words, packed, zero_point)
    return b.trunc(e.smin(e.smax(packed, low), high), vector(i8, 32))


def bytes_of(e: Emitter, rounded: Value, output: Value) -> Value:
    """The lanes as bytes: clamped, zero point added, in order."""
    b = e.builder
    low, high, zero_point = (e.load(output, rounded.type, at) for at in (LOW_32, HIGH_32, ZERO_POINT_32))
    clamped = e.smin(e.smax(rounded, low), high)
    return b.trunc(b.add(clamped, zero_point), vector(i8, rounded.type.count))


def bytes_of_quarters(e: Emitter, quarters: Sequence[Value], output: Value) -> Value:
    """Bytes of four vectors of int32, clamped; 128-bit lane L holds lanes 4L to 4L + 3 of each."""
    zero_point = e.load(output, vector(i16, 2 * quarters[0].type.count), SIGNED_ZERO_POINT_16)
    words = [packed_words(e, quarters[i], quarters[i + 1]) for i in (0, 2)]
    words = [e.call(f"llvm.sadd.sat.{suffix(v.type)}", v.type, v, zero_point) for v in words]
    return _stored(e, packed_bytes(e, *words), output)


def bytes_in_order(e: Emitter, rounded: Sequence[Value], output: Value) -> Value:
    """Bytes of two or four vectors of int32, clamped and in order."""
    lanes, count = rounded[0].type.count, len(rounded)
    if count == 4:
        packed = bytes_of_quarters(e, rounded, output)
    else:
        packed = bytes_of_quarters(e, [*rounded, *rounded], output)
    order = [
        lane * 16 + vector_ * 4 + i
        for vector_ in range(count)
        for lane in range(lanes // 4)
        for i in range(4)
    ]
    return e.shuffle(packed, packed, order)


def _stored(e: Emitter, signed: Value, output: Value) -> Value:
    low, high = e.load(output, signed.type, SIGNED_LOW_8), e.load(output, signed.type, SIGNED_HIGH_8)
    return e.builder.xor(e.smin(e.smax(signed, low), high), e.load(output, signed.type, UNFLIP))


def flip_bytes(e: Emitter, output: Value, type_: object) -> Value:
    """What turns stored bytes into those that the target multiplies, by xor.

    It is loaded because LLVM 22 never ends selecting vpdpbusd of a value xor a constant.
    """
    return e.load(output, type_, FLIP)


class PartialStore:
    """Stores the first `count` lanes of vectors of one type, whole where count allows it."""

    def __init__(self, e: Emitter, type_: Any) -> None:
        self.e, self.type = e, type_
        self.element_bytes = 4 if type_.element == f32 else type_.element.width // 8
        size = constant(i32, self.element_bytes * type_.count)
        self.scratch = None if target().avx512 else e.builder.alloca(i8, size=size)

    def store(self, values: Sequence[Value], places: Sequence[Value], count: Value) -> None:
        """Store each value's first lanes at its place."""
        e, lanes = self.e, self.type.count

        def whole() -> None:
            for value, place in zip(values, places, strict=True):
                e.store(value, place)

        def part() -> None:
            if self.scratch is None:
                mask = e.first_lanes(lanes, count)
                for value, place in zip(values, places, strict=True):
                    e.masked_store(value, place, mask)
                return
            for value, place in zip(values, places, strict=True):
                e.store(value, self.scratch)
                self._copy(place, count)

        e.branch(e.builder.icmp_signed(">=", count, e.const(lanes)), whole, part)

    def _copy(self, place: Value, count: Value) -> None:
        e = self.e

        def body(i: Value, _: list[Value]) -> list[Value]:
            e.store(e.load(e.offset(self.scratch, i), i8), e.offset(place, i))
            return []

        e.loop(e.builder.mul(count, e.const(self.element_bytes)), [], body)
