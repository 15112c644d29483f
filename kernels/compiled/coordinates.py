"""Slices at coordinates that come from data; every coordinate is checked."""

from numba import njit

from .language.memory import int16_pointer, int32_pointer, int64_pointer


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
