"""Sine and cosine of float32 vectors, as emitted code.

Within 3 units in the last place of the exact value up to 100, and within 2e-7 of it for all
angles; NaN of what is not finite.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from .simd import Emitter, Value, constant, f32, i1, i32, vector
from .target import target
from .vector_functions import multiply_add

# Adding this to a float32 below 2^22 rounds it to an integer, which its low bits then hold.
_ROUNDER = 1.5 * 2.0**23
# The largest magnitude that is reduced here.
_LIMIT = 16384.0
# pi in parts. With FMA each product is exact; without, the first three of 10 bits make it so.
_PI_FUSED = (3.1415927410125732, -8.742277657347586e-08, -3.430243790464378e-15)
_PI = (3.140625, 0.0009670257568359375, 6.277114152908325e-07, 1.215420125655342e-10)
# (sin r - r) / r^3 in powers of r^2 for |r| <= pi / 2, fitted for the least relative error of sin (2^-27).
_SINE = (2.6056311324296769e-06, -1.9809538969005244e-04, 8.3330654298922266e-03, -1.6666659521171412e-01)


def _splat(x: Value, value: float) -> Value:
    return constant(x.type, float(np.float32(value)))


def _by_lane(e: Emitter, name: str, x: Value) -> Value:
    """A function of the C library, called for each lane."""
    key = f"{name}_of_lanes_{x.type.count}"
    function = e.module.globals.get(key)
    if function is None:
        function = ir.Function(e.module, ir.FunctionType(x.type, [x.type]), key)
        function.linkage = "internal"
        function.attributes.add("noinline")
        inner = Emitter(ir.IRBuilder(function.append_basic_block("entry")))
        result = function.args[0]
        for k in range(x.type.count):
            at = inner.const(k, i32)
            value = inner.call(name, f32, inner.builder.extract_element(function.args[0], at))
            result = inner.builder.insert_element(result, value, at)
        inner.builder.ret(result)
    return e.builder.call(function, [x])


def _unless_beyond(e: Emitter, x: Value, name: str, value: Value) -> Value:
    """value, but the C library's where a lane is beyond the limit."""
    builder = e.builder
    magnitude = e.call(f"llvm.fabs.v{x.type.count}f32", x.type, x)
    beyond = builder.fcmp_ordered(">", magnitude, _splat(x, _LIMIT))
    some = e.call(f"llvm.vector.reduce.or.v{x.type.count}i1", i1, beyond)
    return e.values_if(some, lambda _: [_by_lane(e, name, x)], [value])[0]


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
    return _unless_beyond(e, x, "sinf", _signed_sine(e, r, odd))


def cosine(e: Emitter, x: Value) -> Value:
    """cos(x), which is sin(r) or -sin(r) with x = r + (k + 1/2) * pi."""
    builder = e.builder
    turns = multiply_add(e, x, _splat(x, 1 / np.pi), _splat(x, -0.5))
    shifted = builder.fadd(turns, _splat(x, _ROUNDER))
    halves = builder.fadd(builder.fsub(shifted, _splat(x, _ROUNDER)), _splat(x, 0.5))
    r = _reduced(e, x, halves)
    odd = builder.bitcast(shifted, vector(i32, x.type.count))
    return _unless_beyond(e, x, "cosf", _signed_sine(e, r, builder.not_(odd)))
