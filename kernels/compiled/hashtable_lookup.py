"""HASHTABLE_LOOKUP, by halving the sorted keys."""

from numba import njit, types

from ..hashtable_lookup import EMPTY_TABLE, HASHTABLE_LOOKUP_ARGS
from .driver.kernel_source import KernelSources
from .language.elements import read_i32, write_u8
from .run_copy import copy_run, fill_run

kernels = KernelSources()


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
