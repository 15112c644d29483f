"""Table lookup of single bytes and of int16, and the check of values that no table has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ..lookup import AT_LEAST, LOOKUP, TOO_LOW
from .driver.kernel_source import KernelSources
from .language.elements import read_i8, read_i16, read_u16, write_i16
from .language.operations import permuted_bytes
from .language.simd import Emitter, Value, constant, i8, microkernel, vector
from .language.target import target

kernels = KernelSources()

_LANES = 64
_TABLE_BYTES = 256


def lookup_in_registers(e: Emitter, quarters: list[Value], index: Value) -> Value:
    """table[index], the table held in four registers: two lookups of 7 bits, and a choice by the eighth."""
    low = permuted_bytes(e, quarters[0], index, quarters[1])
    high = permuted_bytes(e, quarters[2], index, quarters[3])
    return e.builder.select(e.builder.icmp_signed("<", index, constant(index.type, 0)), high, low)


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

    def one(i: Value, _: list[Value]) -> list[Value]:
        index = builder.zext(e.load(x, i8, i), e.const(0).type)
        e.store(e.load(table, i8, index), y, i)
        return []

    whole = builder.and_(count, e.const(-8))

    def eight(i: Value, _: list[Value]) -> list[Value]:
        for k in range(8):
            one(builder.add(i, e.const(k)), [])
        return []

    e.loop(whole, [], eight, step=8)
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
