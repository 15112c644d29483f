"""FILL and ONE_HOT, by element size, and RANGE, each number the rounded sum of the one before and delta."""

import numpy as np
from numba import njit, types

from ...lite.native_blocks import RESIZE
from ..fill import FILL_ARGS, ONE_HOT_ARGS
from ..range import RANGE_ARGS
from .driver.kernel_source import KernelSources
from .language.elements import float_bits, read_f32, read_i32, read_i64, write_f32, write_i32, write_i64
from .language.memory import int32_pointer, int64_pointer, uint8_pointer, uint16_pointer, uint32_pointer
from .run_copy import copy_run, fill_run

kernels = KernelSources()


@njit(error_model="numpy")
def fill_elements(y, value, item_bytes, size):
    """Set size elements at y to the one at value."""
    if item_bytes == 1:
        fill_run(y, int(uint8_pointer(value)[0]) * 0x0101010101010101, size)
    elif item_bytes == 2:
        fill_run(y, int(uint16_pointer(value)[0]) * 0x0001000100010001, size * 2)
    elif item_bytes == 4:
        fill_run(y, int(uint32_pointer(value)[0]) * 0x0000000100000001, size * 4)
    elif item_bytes == 8:
        fill_run(y, int64_pointer(value)[0], size * 8)
    else:
        for i in range(size):
            copy_run(y + i * item_bytes, value, item_bytes)


@kernels.add(FILL_ARGS)
def fill(a, chunk, chunks):
    first = a.size * chunk // chunks
    last = a.size * (chunk + 1) // chunks
    fill_elements(a.y + first * a.item_bytes, a.value, a.item_bytes, last - first)
    return 0


@kernels.add(ONE_HOT_ARGS)
def one_hot(a, chunk, chunks):
    block = a.depth * a.inner
    for i in range(a.outer * chunk // chunks, a.outer * (chunk + 1) // chunks):
        y = a.y + i * block * a.item_bytes
        fill_elements(y, a.off, a.item_bytes, block)
        for k in range(a.inner):
            place = i * a.inner + k
            if a.index_bytes == 8:
                # The reference reads the low half of a wide index.
                at = int(np.int32(int64_pointer(a.indices)[place]))
            else:
                at = int(int32_pointer(a.indices)[place])
            if 0 <= at < a.depth:
                copy_run(y + (at * a.inner + k) * a.item_bytes, a.on, a.item_bytes)
    return 0


def numbers(read, stored, fill):
    """A kernel that fills y, if it was sized for these operands, of which stored(x) are the bits."""
    stored = njit(error_model="numpy")(stored)
    fill = njit(error_model="numpy")(fill)

    def kernel(a, chunk, chunks):
        start, limit, delta = read(a.start, 0), read(a.limit, 0), read(a.delta, 0)
        known = stored(start) == a.sized_start and stored(limit) == a.sized_limit
        if a.count < 0 or not known or stored(delta) != a.sized_delta:
            return RESIZE
        fill(a.y, a.count, start, delta)
        return 0

    return kernel


def _float_bits(x):
    return types.int64(float_bits(x))


def _itself(x):
    return types.int64(x)


def _fill_f32(y, count, x, delta):
    for i in range(count):
        write_f32(y, i, x)
        x += delta


def _fill_i32(y, count, start, delta):
    for i in range(count):
        write_i32(y, i, types.int32(start + i * delta))


def _fill_i64(y, count, start, delta):
    for i in range(count):
        write_i64(y, i, start + i * delta)


for _suffix, _read, _stored, _fill in (
    ("f32", read_f32, _float_bits, _fill_f32),
    ("i32", read_i32, _itself, _fill_i32),
    ("i64", read_i64, _itself, _fill_i64),
):
    kernels.add(RANGE_ARGS, f"range_{_suffix}")(numbers(_read, _stored, _fill))
