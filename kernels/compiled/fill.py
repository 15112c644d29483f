"""FILL and ONE_HOT, by element size."""

import numpy as np
from numba import njit

from ..fill import FILL_ARGS, ONE_HOT_ARGS
from .driver.kernel_source import KernelSources
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
