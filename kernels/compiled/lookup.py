"""Table lookup of single bytes and of int16, and the check of values that no table has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ..lookup import AT_LEAST, LOOKUP, TOO_LOW
from .driver.kernel_source import KernelSources
from .language.elements import read_i8, read_i16, read_u16, write_i16
from .language.operations import permuted_bytes, shuffled_bytes
from .language.simd import Emitter, Value, constant, i8, i32, microkernel, suffix, vector
from .language.target import target

kernels = KernelSources()

_LANES = 64
_TABLE_BYTES = 256
# With AVX2: sixteenths of the table, and indices that each of them serves once it is loaded.
_PART_BYTES, _TOGETHER = 16, 4
_STEP = 32 * _TOGETHER


def lookup_in_registers(e: Emitter, quarters: list[Value], index: Value) -> Value:
    """table[index], the table held in four registers: two lookups of 7 bits, and a choice by the eighth."""
    low = permuted_bytes(e, quarters[0], index, quarters[1])
    high = permuted_bytes(e, quarters[2], index, quarters[3])
    return e.builder.select(e.builder.icmp_signed("<", index, constant(index.type, 0)), high, low)


def _differences(e: Emitter, table: Value) -> Value:
    """Where the table's sixteenths are, each but the first of a half xor the one before."""
    b, part = e.builder, vector(i8, _PART_BYTES)
    to, before = b.alloca(i8, size=constant(i32, _TABLE_BYTES)), None
    for at in range(0, _TABLE_BYTES, _PART_BYTES):
        found = e.load(table, part, at)
        e.store(found if at % 128 == 0 else b.xor(found, before), to, at)
        before = found
    return to


def _shuffled(e: Emitter, x: Value, y: Value, table: Value, count: Value) -> Value:
    """Look up whole steps by shuffles of sixteen bytes; gives how many bytes those are.

    Of a half of the table, all parts up to an index's own are added up by xor, which leaves its own: with
    each step down the index gets smaller, and negative past its own part.
    """
    b, lanes = e.builder, vector(i8, 32)
    whole = b.and_(count, e.const(-_STEP))

    def many(differences: Value, i: Value) -> None:
        loaded = [e.load(e.offset(x, i), lanes, 32 * k) for k in range(_TOGETHER)]
        index = loaded
        found = [constant(lanes, 0)] * _TOGETHER
        for at in range(0, _TABLE_BYTES, _PART_BYTES):
            if at == 128:
                index = [b.xor(v, constant(lanes, -128)) for v in loaded]
            part = e.load(differences, vector(i8, _PART_BYTES), at)
            found = [b.xor(v, shuffled_bytes(e, part, k)) for v, k in zip(found, index, strict=True)]
            by = constant(lanes, _PART_BYTES)
            index = [e.call(f"llvm.ssub.sat.{suffix(lanes)}", lanes, k, by) for k in index]
        for k, value in enumerate(found):
            e.store(value, e.offset(y, i), 32 * k)

    def all_steps() -> None:
        differences = _differences(e, table)

        def step(i: Value, _: list[Value]) -> list[Value]:
            many(differences, i)
            return []

        e.loop(whole, [], step, step=_STEP)

    e.branch(b.icmp_signed(">", whole, e.const(0)), all_steps)
    return whole


def _emit(e: Emitter, x: Value, y: Value, table: Value, count: Value) -> None:
    builder = e.builder
    x, y, table = e.pointer(x), e.pointer(y), e.pointer(table)
    start = e.const(0)
    if target().vbmi:
        type_ = vector(i8, _LANES)
        quarters = [e.load(table, type_, offset) for offset in range(0, _TABLE_BYTES, _LANES)]

        def many(i: Value, _: list[Value]) -> list[Value]:
            e.store(lookup_in_registers(e, quarters, e.load(x, type_, i)), y, i)
            return []

        start = builder.and_(count, e.const(-_LANES))
        e.loop(start, [], many, step=_LANES)
        rest = e.first_lanes(_LANES, builder.sub(count, start))
        found = lookup_in_registers(e, quarters, e.load(x, type_, start))
        e.masked_store(found, e.offset(y, start), rest)
        return

    if target().avx2 and not target().avx512:
        start = _shuffled(e, x, y, table, count)

    def one(i: Value, _: list[Value]) -> list[Value]:
        index = builder.zext(e.load(x, i8, i), e.const(0).type)
        e.store(e.load(table, i8, index), y, i)
        return []

    whole = builder.add(start, builder.and_(builder.sub(count, start), e.const(-8)))

    def eight(i: Value, _: list[Value]) -> list[Value]:
        for k in range(8):
            one(builder.add(i, e.const(k)), [])
        return []

    e.loop(whole, [], eight, step=8, start=start)
    e.loop(count, [], one, start=whole)


# (x, y, table, count): y[i] = table[x[i]], the bytes of x being taken as unsigned.
lookup_row: Any = microkernel("lookup_row", [types.int64] * 4, _emit)


@kernels.add(LOOKUP)
def lookup_8(a, chunk, chunks):
    first, last = a.size * chunk // chunks, a.size * (chunk + 1) // chunks
    lookup_row(a.x + a.first + first, a.y + a.first + first, a.table, last - first)
    return 0


@kernels.add(LOOKUP)
def lookup_16(a, chunk, chunks):
    x, y, table = a.x, a.y, a.table
    for i in range(a.first + a.size * chunk // chunks, a.first + a.size * (chunk + 1) // chunks):
        write_i16(y, i, read_i16(table, np.int64(read_u16(x, i))))
    return 0


@kernels.add(AT_LEAST)
def at_least_8(a, chunk, chunks):
    x, lowest = a.x, a.lowest
    low = False
    for i in range(a.size * chunk // chunks, a.size * (chunk + 1) // chunks):
        low |= read_i8(x, i) < lowest
    return TOO_LOW if low else 0


@kernels.add(AT_LEAST)
def at_least_16(a, chunk, chunks):
    x, lowest = a.x, a.lowest
    low = False
    for i in range(a.size * chunk // chunks, a.size * (chunk + 1) // chunks):
        low |= read_i16(x, i) < lowest
    return TOO_LOW if low else 0
