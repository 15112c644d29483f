"""EMBEDDING_LOOKUP of quantized rows, to float32, and HASHTABLE_LOOKUP, by halving the sorted keys."""

import numpy as np
from numba import njit, types

from ..embedding import EMBEDDING_ARGS
from ..gather import OUT_OF_RANGE
from ..hashtable_lookup import EMPTY_TABLE, HASHTABLE_LOOKUP_ARGS
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, read_i8, read_i32, read_u8, write_f32, write_u8
from .run_copy import copy_run, fill_run

kernels = KernelSources()


@kernels.add(EMBEDDING_ARGS)
def embedding_lookup(a, chunk, chunks):
    size = a.block_size
    for i in range(a.count * chunk // chunks, a.count * (chunk + 1) // chunks):
        row = int(read_i32(a.positions, i))
        if row < 0 or row >= a.rows:
            return OUT_OF_RANGE
        for block in range(a.columns // size):
            scale = read_f32(a.scales, row * a.scale_step + block)
            y = a.y + (i * a.columns + block * size) * 4
            # Rows of packed elements start at a byte, as the reference has it; so do blocks.
            x = a.table + row * a.columns * a.bits // 8 + block * size * a.bits // 8
            if a.bits == 8:
                for k in range(size):
                    write_f32(y, k, np.float32(np.float32(read_i8(x, k)) * scale))
            elif a.bits == 4:
                for k in range(size >> 1):
                    pair = np.int32(read_u8(x, k))
                    write_f32(y, 2 * k, np.float32(np.float32(((pair & 15) ^ 8) - 8) * scale))
                    write_f32(y, 2 * k + 1, np.float32(np.float32((pair >> 4 ^ 8) - 8) * scale))
                if size & 1:
                    stored = int(read_u8(x, size >> 1)) & 15
                    write_f32(y, size - 1, np.float32(np.float32((stored ^ 8) - 8) * scale))
            else:
                for k in range(size):
                    stored = (int(read_u8(x, k >> 2)) >> ((k & 3) * 2)) & 3
                    write_f32(y, k, np.float32(np.float32((stored ^ 2) - 2) * scale))
    return 0


@njit(error_model="numpy")
def _place(keys, count, wanted):
    """Where a key is found first, or -1."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        key = read_i32(keys, middle)
        if key == wanted:
            return middle
        if wanted < key:
            high = middle
        else:
            low = middle + 1
    return -1


@kernels.add(HASHTABLE_LOOKUP_ARGS)
def hashtable_lookup(a, chunk, chunks):
    if a.count == 0:
        return EMPTY_TABLE
    for i in range(a.size):
        place = _place(a.keys, a.count, read_i32(a.lookups, i))
        to = a.y + i * a.row_bytes
        if place < 0:
            fill_run(to, 0, a.row_bytes)
        else:
            copy_run(to, a.values + place * a.row_bytes, a.row_bytes)
        write_u8(a.hits, i, types.uint8(place >= 0))
    return 0
