"""WHERE and UNIQUE: what there is is counted first, and then written if the output has room for it."""

import numpy as np
from numba import njit, types

from ...lite.native_blocks import RESIZE, STOPPED
from ..where import UNIQUE_ARGS, WHERE_ARGS
from .driver.cancellation import COST, TURNS, is_to_stop
from .driver.kernel_source import KernelSources
from .language.element_types import F32, F64, I8, I16, I32, I64, ElementType
from .language.elements import (
    double_bits,
    float_bits,
    read_back_i32,
    read_back_i64,
    read_i64,
    write_i32,
    write_i64,
)

kernels = KernelSources()

_AT_ONCE = 8  # elements that are skipped together where none is set


@njit(error_model="numpy")
def _next_row(indices, rank):
    """Count up the indices of all axes but the last."""
    d = rank - 2
    while d >= 0:
        index = read_back_i64(indices, rank + d) + 1
        if index < read_back_i64(indices, d):
            write_i64(indices, rank + d, index)
            return
        write_i64(indices, rank + d, 0)
        d -= 1


def where(is_set):
    """A kernel that lists the indices of elements; is_set(x, mask, i) gives 1 for those."""
    is_set = njit(error_model="numpy")(is_set)

    @njit(error_model="numpy")
    def write_row(a, begin, count, places):
        """Write the last index of each element set in a row, from a place on; the next place."""
        x, mask, y, rank, most = a.x, a.mask, a.y, a.rank, a.count
        last, i = rank - 1, 0
        while i < count and places < most:
            if i + _AT_ONCE <= count:
                any_set = 0
                for k in range(_AT_ONCE):
                    any_set |= is_set(x, mask, begin + i + k)
                if any_set == 0:
                    i += _AT_ONCE
                    continue
            # Written before it is known whether it counts: no branch to foresee.
            write_i64(y, places * rank + last, i)
            places += is_set(x, mask, begin + i)
            i += 1
        return places

    def kernel(a, chunk, chunks):
        x, mask, y, rank, indices = a.x, a.mask, a.y, a.rank, a.indices
        found = 0
        for i in range(a.size):
            found += is_set(x, mask, i)
        if found != a.count:
            a.found = found
            return RESIZE
        for d in range(rank):
            write_i64(indices, rank + d, 0)
        length = read_i64(indices, rank - 1)
        begin = places = 0
        while places < found:
            row_places = places
            places = write_row(a, begin, length, places)
            for d in range(rank - 1):
                index = read_back_i64(indices, rank + d)
                for k in range(row_places, places):
                    write_i64(y, k * rank + d, index)
            _next_row(indices, rank)
            begin += length
        return 0

    return kernel


def _by_mask(type_: ElementType):
    read, width = type_.read, type_.width

    def is_set(x, mask, i):
        return types.int64((read(x, i) & width(mask)) != 0)

    return is_set


def _of_pairs(x, mask, i):
    return types.int64(((read_i64(x, 2 * i) | read_i64(x, 2 * i + 1)) & mask) != 0)


for _type in (I8, I16, I32, I64):
    kernels.add(WHERE_ARGS, f"where_{_type.bytes}")(where(_by_mask(_type)))
kernels.add(WHERE_ARGS, "where_16")(where(_of_pairs))


@njit(error_model="numpy")
def _write_place(a, i, place):
    if a.wide:
        write_i64(a.places, i, types.int64(place))
    else:
        write_i32(a.places, i, types.int32(place))


def unique(type_: ElementType, bits):
    """A kernel that numbers values by a table of slots; bits(x) are equal for equal values."""
    read, read_back, write = type_.read, type_.read_back, type_.write
    bits = njit(error_model="numpy")(bits)

    @njit(error_model="numpy")
    def number(a):
        """Number all elements; how many values there are, or STOPPED."""
        mask = (1 << (64 - a.shift)) - 1
        for slot in range(mask + 1):
            write_i32(a.slots, slot, types.int32(0))
        found = 0
        for i in range(a.size):
            if i % TURNS == 0 and is_to_stop(a.cancellation, COST):
                return STOPPED
            x = read(a.x, i)
            if x != x:  # a NaN, which equals nothing
                write(a.first, found, x)
                _write_place(a, i, found)
                found += 1
                continue
            slot = types.int64(np.uint64(bits(x) * a.factor) >> np.uint64(a.shift))
            place = types.int64(read_back_i32(a.slots, slot)) - 1
            while place >= 0 and read_back(a.first, place) != x:
                slot = (slot + 1) & mask
                place = types.int64(read_back_i32(a.slots, slot)) - 1
            if place < 0:
                place = found
                write_i32(a.slots, slot, types.int32(found + 1))
                write(a.first, found, x)
                found += 1
            _write_place(a, i, place)
        return found

    def kernel(a, chunk, chunks):
        if a.counted == 0 or a.count < 0:
            found = number(a)
            if found == STOPPED:
                return STOPPED
            if found != a.count:
                a.found = found
                return RESIZE
        a.counted = 0
        for k in range(a.count):
            write(a.values, k, read_back(a.first, k))
        return 0

    return kernel


def _integer(x):
    return types.int64(x)


def _float(x):
    return types.int64(float_bits(x)) if x != 0 else types.int64(0)


def _double(x):
    return double_bits(x) if x != 0 else types.int64(0)


for _type in (I8, I16, I32, I64):
    kernels.add(UNIQUE_ARGS, f"unique_{_type.bytes}")(unique(_type, _integer))
kernels.add(UNIQUE_ARGS, "unique_f32")(unique(F32, _float))
kernels.add(UNIQUE_ARGS, "unique_f64")(unique(F64, _double))
