"""GATHER and GATHER_ND, by runs of bytes; every position is checked before it is used."""

import numpy as np
from numba import njit

from ..gather import GATHER_ARGS, OUT_OF_RANGE
from ..gather_nd import GATHER_ND_ARGS
from .driver.kernel_source import KernelSources
from .language.element_types import I8, I16, I32, I64, ElementType
from .language.elements import read_i32, read_i64
from .language.memory import int16_pointer, int32_pointer, int64_pointer
from .run_copy import copy_run

kernels = KernelSources()


@njit(error_model="numpy")
def _all_in_range(positions, position_bytes, count, axis_size):
    for i in range(count):
        position = np.int64(read_i32(positions, i)) if position_bytes == 4 else read_i64(positions, i)
        if position < 0 or position >= axis_size:
            return False
    return True


def elements(type_: ElementType):
    """A kernel for slices of one element, whose positions (int32 or int64) serve many blocks."""
    read, write, item_bytes = type_.read, type_.write, type_.bytes

    @njit(error_model="numpy")
    def gather_block(x, positions, position_bytes, y, count):
        if position_bytes == 4:
            for i in range(count):
                write(y, i, read(x, np.int64(read_i32(positions, i))))
        else:
            for i in range(count):
                write(y, i, read(x, read_i64(positions, i)))

    def kernel(a, chunk, chunks):
        count, position_bytes = a.count, a.position_bytes
        blocks = a.batch * a.outer
        checked = -1
        for block in range(blocks * chunk // chunks, blocks * (chunk + 1) // chunks):
            batch = block // a.outer
            positions = a.positions + batch * count * position_bytes
            if batch != checked:
                if not _all_in_range(positions, position_bytes, count, a.axis_size):
                    return OUT_OF_RANGE
                checked = batch
            x = a.x + block * a.axis_size * item_bytes
            gather_block(x, positions, position_bytes, a.y + block * count * item_bytes, count)
        return 0

    return kernel


for _type in (I8, I16, I32, I64):
    kernels.add(GATHER_ARGS, f"gather_elements_{_type.bytes}")(elements(_type))


@kernels.add(GATHER_ARGS)
def gather(a, chunk, chunks):
    size, axis_size = a.slice_bytes, a.axis_size
    total = a.batch * a.outer * a.count
    row, end = total * chunk // chunks, total * (chunk + 1) // chunks
    while row < end:
        block, first = row // a.count, row % a.count
        last = min(a.count, first + end - row)
        place = block // a.outer * a.count
        x, y = a.x + block * axis_size * size, a.y + block * a.count * size
        for i in range(first, last):
            if a.position_bytes == 4:
                position = np.int64(int32_pointer(a.positions)[place + i])
            elif a.position_bytes == 8:
                position = int64_pointer(a.positions)[place + i]
            else:
                position = np.int64(int16_pointer(a.positions)[place + i])
            if position < 0 or position >= axis_size:
                return OUT_OF_RANGE
            copy_run(y + i * size, x + position * size, size)
        row += last - first
    return 0


@njit(error_model="numpy")
def slice_offset(a, i):
    """Byte offset of the i-th slice that a block with COORDINATES describes, -1 when it is out of range."""
    offset = 0
    for axis in range(a.depth):
        place = i * a.depth + axis
        if a.index_bytes == 4:
            at = int(int32_pointer(a.indices)[place])
        elif a.index_bytes == 8:
            at = int(int64_pointer(a.indices)[place])
        else:
            at = int(int16_pointer(a.indices)[place])
        if at < 0 or at >= a.sizes[axis]:
            return -1
        offset += at * a.strides[axis]
    return offset


@kernels.add(GATHER_ND_ARGS)
def gather_nd(a, chunk, chunks):
    for i in range(a.count * chunk // chunks, a.count * (chunk + 1) // chunks):
        offset = slice_offset(a, i)
        if offset < 0:
            return OUT_OF_RANGE
        copy_run(a.y + i * a.slice_bytes, a.x + offset, a.slice_bytes)
    return 0
