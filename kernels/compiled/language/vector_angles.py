"""Sine and cosine of float32 vectors, as emitted code.

Within 3 units in the last place of the exact value up to 100, within 2e-7 of it up to 16 384, and within
one unit beyond, where float64 serves. NaN of what is not finite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from .scalar_math import COSINE, SINE
from .simd import Emitter, Value, constant, f32, f64, i1, i8, i32, i64, vector
from .target import target
from .vector_functions import multiply_add

# Adding this to a float32 below 2^22 rounds it to an integer, which its low bits then hold.
_ROUNDER = 1.5 * 2.0**23
# The largest magnitude that float32 reduces.
_LIMIT = 16384.0
# 2 / pi in words of 32 bits, the highest first, behind one of what stands before the point.
_TWO_OVER_PI = (0, 0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599, 0x3C439041, 0xFE5163AB)
# pi in parts. With FMA each product is exact; without, the first three of 10 bits make it so.
_PI_FUSED = (3.1415927410125732, -8.742277657347586e-08, -3.430243790464378e-15)
_PI = (3.140625, 0.0009670257568359375, 6.277114152908325e-07, 1.215420125655342e-10)
# (sin r - r) / r^3 in powers of r^2 for |r| <= pi / 2, fitted for the least relative error of sin (2^-27).
_SINE = (2.6056311324296769e-06, -1.9809538969005244e-04, 8.3330654298922266e-03, -1.6666659521171412e-01)


def _splat(x: Value, value: float) -> Value:
    return constant(x.type, float(np.float32(value)))


def _function(e: Emitter, name: str, type_: Any, emit: Callable[[Emitter, Value], Value]) -> Value:
    """The module's own function of one value of a type, emitted where it is asked for first."""
    function = e.module.globals.get(name)
    if function is None:
        function = ir.Function(e.module, ir.FunctionType(type_, [type_]), name)
        function.linkage = "internal"
        function.attributes.add("noinline")
        inner = Emitter(ir.IRBuilder(function.append_basic_block("entry")))
        inner.builder.ret(emit(inner, function.args[0]))
    return function


def _by_lane(e: Emitter, x: Value, turns: int) -> Value:
    """sin(x + turns * pi / 2), a lane at a time."""

    def far(inner: Emitter, value: Value) -> Value:
        return _of_far_angle(inner, value, turns)

    def lanes(inner: Emitter, values: Value) -> Value:
        function, result = _function(inner, f"far_angle_{turns}", f32, far), values
        for k in range(x.type.count):
            at = inner.const(k, i32)
            found = inner.builder.call(function, [inner.builder.extract_element(values, at)])
            result = inner.builder.insert_element(result, found, at)
        return result

    return e.builder.call(_function(e, f"far_angles_{turns}_{x.type.count}", x.type, lanes), [x])


def _of_far_angle(e: Emitter, x: Value, turns: int) -> Value:
    """sin(x + turns * pi / 2) for an x of 2^-30 and more in size.

    With |x| = m * 2^k, the product of m and those bits of 2 / pi that stand for less than 4 / 2^k is |x| in
    quarters of a turn, but for whole turns.
    """
    b = e.builder
    bits = b.bitcast(x, i32)
    exponent = b.zext(b.and_(b.lshr(bits, e.const(23, i32)), e.const(255, i32)), i64)
    m = b.zext(b.or_(b.and_(bits, e.const(0x7FFFFF, i32)), e.const(0x800000, i32)), i64)
    high, low = _two_over_pi_from(e, e.smax(b.sub(exponent, e.const(120)), e.const(0)))
    quarters = b.add(b.mul(m, high), b.lshr(b.mul(m, low), e.const(32)))
    near = b.lshr(b.add(quarters, e.const(1 << 61)), e.const(62))
    rest = b.sitofp(b.sub(quarters, b.shl(near, e.const(62))), f64)
    r = b.fmul(rest, e.const(np.pi / 2 * 2.0**-62, f64))
    # sin(-x) is -sin(x), half a turn away.
    negative = b.zext(b.lshr(bits, e.const(31, i32)), i64)
    turned = b.add(near, e.const(1)) if turns else b.add(near, b.shl(negative, e.const(1)))
    found = b.fptrunc(_of_quarters(e, r, turned), f32)
    return b.select(b.icmp_unsigned("==", exponent, e.const(255)), b.fsub(x, x), found)


def _two_over_pi_from(e: Emitter, position: Value) -> tuple[Value, Value]:
    """64 bits of _TWO_OVER_PI from a position on, and the next 32."""
    b, name = e.builder, "two_over_pi"
    table = e.module.globals.get(name)
    if table is None:
        kind = ir.ArrayType(i32, len(_TWO_OVER_PI))
        table = ir.GlobalVariable(e.module, kind, name)
        table.linkage, table.global_constant = "internal", True
        table.initializer = ir.Constant(kind, list(_TWO_OVER_PI))
    first = b.shl(b.lshr(position, e.const(5)), e.const(2))
    base = b.bitcast(table, i8.as_pointer())
    words = [b.zext(e.load(e.offset(base, first), i32, 4 * k), i64) for k in range(4)]
    pairs = [b.or_(b.shl(words[k], e.const(32)), words[k + 1]) for k in (0, 2)]
    shift = b.and_(position, e.const(31))
    high = e.call("llvm.fshl.i64", i64, *pairs, shift)
    return high, b.lshr(b.shl(pairs[1], shift), e.const(32))


def _of_quarters(e: Emitter, r: Value, quarters: Value) -> Value:
    """sin(r + quarters * pi / 2) for |r| <= pi / 4, by the steps of scalar_math.sine_and_cosine_f32."""
    b = e.builder
    s, c = ([e.const(value, f64) for value in values] for values in (SINE, COSINE))
    z = b.fmul(r, r)
    cube, fourth = b.fmul(r, z), b.fmul(z, z)
    tail = e.multiply_add(z, s[2], s[1])
    sine_ = e.multiply_add(b.fmul(cube, z), tail, e.multiply_add(cube, s[0], r))
    cosine_ = e.multiply_add(fourth, c[2], e.multiply_add(z, c[1], c[0]))
    cosine_ = e.multiply_add(b.fmul(fourth, z), e.multiply_add(z, c[4], c[3]), cosine_)
    is_odd, is_negative = (
        b.icmp_unsigned("!=", b.and_(quarters, e.const(bit)), e.const(0)) for bit in (1, 2)
    )
    value = b.select(is_odd, cosine_, sine_)
    return b.select(is_negative, b.fneg(value), value)


def _unless_beyond(e: Emitter, x: Value, turns: int, value: Value) -> Value:
    """value, but in lanes beyond the limit what _by_lane gives."""
    builder = e.builder
    magnitude = e.call(f"llvm.fabs.v{x.type.count}f32", x.type, x)
    beyond = builder.fcmp_ordered(">", magnitude, _splat(x, _LIMIT))
    some = e.call(f"llvm.vector.reduce.or.v{x.type.count}i1", i1, beyond)
    return e.values_if(some, lambda _: [builder.select(beyond, _by_lane(e, x, turns), value)], [value])[0]


def _reduced(e: Emitter, x: Value, turns: Value) -> Value:
    """x - turns * pi, for multiples of 1/2."""
    fused = target().fma or target().avx512
    for part in _PI_FUSED if fused else _PI:
        x = multiply_add(e, turns, _splat(x, -part), x)
    return x


def _signed_sine(e: Emitter, r: Value, odd: Value) -> Value:
    """sin(r) for |r| <= pi / 2, negated in lanes whose `odd` (i32) has its low bit set."""
    builder = e.builder
    z = builder.fmul(r, r)
    p = _splat(z, _SINE[0])
    for coefficient in _SINE[1:]:
        p = multiply_add(e, p, z, _splat(z, coefficient))
    sine = builder.bitcast(multiply_add(e, builder.fmul(p, z), r, r), odd.type)
    sign = builder.shl(odd, constant(odd.type, 31))
    return builder.bitcast(builder.xor(sine, sign), r.type)


def sine(e: Emitter, x: Value) -> Value:
    """sin(x)."""
    builder = e.builder
    shifted = multiply_add(e, x, _splat(x, 1 / np.pi), _splat(x, _ROUNDER))
    r = _reduced(e, x, builder.fsub(shifted, _splat(x, _ROUNDER)))
    odd = builder.bitcast(shifted, vector(i32, x.type.count))
    return _unless_beyond(e, x, 0, _signed_sine(e, r, odd))


def cosine(e: Emitter, x: Value) -> Value:
    """cos(x), which is sin(r) or -sin(r) with x = r + (k + 1/2) * pi."""
    builder = e.builder
    turns = multiply_add(e, x, _splat(x, 1 / np.pi), _splat(x, -0.5))
    shifted = builder.fadd(turns, _splat(x, _ROUNDER))
    halves = builder.fadd(builder.fsub(shifted, _splat(x, _ROUNDER)), _splat(x, 0.5))
    r = _reduced(e, x, halves)
    odd = builder.bitcast(shifted, vector(i32, x.type.count))
    return _unless_beyond(e, x, 1, _signed_sine(e, r, builder.not_(odd)))
