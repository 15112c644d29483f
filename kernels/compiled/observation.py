"""Extremes of channels and histograms of a tensor's values: what calibration keeps of them, in one pass.

Extremes of as many columns as registers hold go over some rows, and those of the next columns over the same
ones while they are in the cache: nothing but the tensor is read from memory.
"""

from __future__ import annotations

import numpy as np
from numba import carray, int32, int64, njit

from ..observation import COUNTERS, EXTREMES, HISTOGRAM, WRONG
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, write_i32
from .language.memory import float32_pointer, int64_pointer, stack_bytes, uint32_pointer
from .language.simd import Emitter, Value, constant, f32, i32, microkernel, vector
from .language.target import target

kernels = KernelSources()

_LANES = target().vector_bytes // 4
_SIDE_BY_SIDE = 4
_COLUMNS = _SIDE_BY_SIDE * _LANES
_BLOCK_BYTES = 1 << 16
# Of so many values bins are found, in vectors, before any is counted.
_SOME = 512
_bin_places = stack_bytes(4 * _SOME)
_INFINITY = np.float32(np.inf)
_ZERO = np.float32(0)


def _columns(vectors: int) -> object:
    """A microkernel (x, rows, row bytes, columns, low, high, sums): 1 where a value is not finite.

    Of one vector only the first columns are read.
    """

    def emit(e: Emitter, x: Value, rows: Value, row_bytes: Value, columns: Value, *kept: Value) -> Value:
        lanes, builder = vector(f32, _LANES), e.builder
        base, zero = e.pointer(x), constant(lanes, 0.0)
        places = [e.pointer(address) for address in kept]
        mask = e.first_lanes(_LANES, columns) if vectors == 1 else None

        def load(place: Value, k: int) -> Value:
            at = e.offset(place, k * _LANES * 4)
            return e.load(at, lanes) if mask is None else e.masked_load(at, lanes, mask)

        def body(row: Value, carried: list[Value]) -> list[Value]:
            at, out = e.offset(base, builder.mul(row, row_bytes)), []
            for k in range(vectors):
                low, high, total = carried[3 * k : 3 * k + 3]
                value = load(at, k)
                out += [e.fmin(value, low), e.fmax(value, high), e.multiply_add(value, zero, total)]
            return out

        before = [load(place, k) for k in range(vectors) for place in places]
        after = e.loop(rows, before, body)
        wrong = constant(vector(i32, _LANES), 0)
        for k in range(vectors):
            for place, found in zip(places, after[3 * k : 3 * k + 3], strict=True):
                if mask is None:
                    e.store(found, place, k * _LANES * 4)
                else:
                    e.masked_store(found, place, mask)
            total = after[3 * k + 2]
            wrong = builder.or_(wrong, builder.zext(builder.fcmp_unordered("uno", total, total), wrong.type))
        any_wrong = builder.extract_element(wrong, e.const(0, i32))
        for lane in range(1, _LANES):
            any_wrong = builder.or_(any_wrong, builder.extract_element(wrong, e.const(lane, i32)))
        return any_wrong

    return microkernel(f"extremes_of_{vectors}_vectors", [int64] * 7, emit, int32)


_many, _few = _columns(_SIDE_BY_SIDE), _columns(1)


@njit(error_model="numpy")
def _take_in(a, x, rows, columns):
    """See float32 [rows, columns] at an address; 1 where a value is not finite."""
    wrong, column, row_bytes = 0, 0, 4 * columns
    while column < columns:
        at = 4 * column
        count = min(_COLUMNS, columns - column)
        if count == _COLUMNS:
            wrong |= _many(x + at, rows, row_bytes, count, a.low + at, a.high + at, a.sums + at)
        else:
            count = min(_LANES, count)
            wrong |= _few(x + at, rows, row_bytes, count, a.low + at, a.high + at, a.sums + at)
        column += count
    return wrong


@njit(error_model="numpy")
def _begin_anew(a, columns):
    low, high = carray(float32_pointer(a.low), (columns,)), carray(float32_pointer(a.high), (columns,))
    sums = carray(float32_pointer(a.sums), (columns,))
    for c in range(columns):
        low[c], high[c], sums[c] = _INFINITY, -_INFINITY, _ZERO


@njit(error_model="numpy")
def _finish(a, columns):
    low, high = carray(float32_pointer(a.low), (columns,)), carray(float32_pointer(a.high), (columns,))
    a.lowest, a.highest = _INFINITY, -_INFINITY
    for c in range(columns):
        a.lowest, a.highest = min(a.lowest, low[c]), max(a.highest, high[c])


@kernels.add(EXTREMES)
def extremes_f32(a, chunk, chunks):
    columns = a.together * a.depth
    if a.apart:
        _begin_anew(a, columns)
    rows, at = a.rows // a.together, a.x
    rest = (a.rows - rows * a.together) * a.depth
    step, wrong = max(_BLOCK_BYTES // (4 * columns), 1), 0
    while rows > 0:
        count = min(rows, step)
        wrong |= _take_in(a, at, count, columns)
        at += 4 * columns * count
        rows -= count
    if rest > 0:
        wrong |= _take_in(a, at, 1, rest)
    if a.apart:
        _finish(a, columns)
    a.wrong = wrong
    return WRONG if wrong else 0


@njit(error_model="numpy")
def _find_bins(a, x, places, count):
    """The bins of some values, less the first one, as int32; whether all of them are there."""
    # factor is a power of two: the product is exact in float64.
    first, end, low, high = np.float64(a.first), np.float64(a.bins), np.int32(0), np.int32(0)
    for i in range(count):
        at = np.floor(np.float64(read_f32(x, i)) * a.factor) - first
        at = -1.0 if at < 0.0 else at
        place = np.int32(end if at > end else at)
        write_i32(places, i, place)
        low, high = min(low, place), max(high, place)
    return low >= 0 and high < a.bins


@njit(error_model="numpy")
def _count(a, places, count):
    """Count values whose bins are known. Indices are unsigned: others might be from the end."""
    # Most values of a RELU have one bin: counts of their own wait for none that was just written.
    counts = carray(int64_pointer(a.counts), (COUNTERS * a.bins,))
    found = carray(uint32_pointer(places), (_SOME,))
    one, bins, step = np.uint64(1), np.uint64(a.bins), np.uint64(COUNTERS)
    whole = np.uint64(count - count % COUNTERS)
    for i in range(np.uint64(0), whole, step):
        j, k = i + one, i + one + one
        counts[found[i]] += 1
        counts[bins + found[j]] += 1
        counts[bins + bins + found[k]] += 1
        counts[bins + bins + bins + found[k + one]] += 1
    for i in range(whole, np.uint64(count)):
        counts[found[i]] += 1


@kernels.add(HISTOGRAM)
def histogram_f32(a, chunk, chunks):
    places, done = _bin_places(), 0
    while done < a.count:
        count = min(_SOME, a.count - done)
        if not _find_bins(a, a.x + 4 * done, places, count):
            return WRONG
        _count(a, places, count)
        done += count
    return 0
