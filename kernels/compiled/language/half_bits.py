"""float16 by its bits, which neither Numba nor every processor can compute with."""

import numpy as np
from numba import njit

from .elements import float_bits, float_from_bits

_HALF = np.float32(0.5)
_TWO_TO_112 = np.float32(2.0**112)
_INFINITY = 0x7C00


@njit(error_model="numpy")
def to_half(x):
    """The bits (int16) of the float16 nearest to a float32, half to even."""
    bits = np.int32(float_bits(x))
    size = np.int32(bits & 0x7FFFFFFF)
    # In 0.5 + x the last bit is worth as much as that of the smallest float16.
    small = np.int32(float_bits(np.float32(float_from_bits(size) + _HALF)) - 0x3F000000)
    large = np.int32((size + 0xFFF + (size >> 13 & 1) - 0x38000000) >> 13)
    half = small if size < 0x38800000 else large
    if size >= 0x47800000:
        half = np.int32(_INFINITY)
    if size > 0x7F800000:
        half = np.int32(0x7E00)
    return np.int16(half | (bits >> 16 & 0x8000))


@njit(error_model="numpy")
def from_half(x):
    """The float32 that has the value of a float16's bits (uint16 or int16)."""
    size = np.int32(x & 0x7FFF)
    scaled = np.int32(float_bits(np.float32(float_from_bits(np.int32(size << 13)) * _TWO_TO_112)))
    if size >= _INFINITY:
        scaled = np.int32(size << 13 | 0x7F800000)
    return float_from_bits(np.int32(scaled | np.int32(x & 0x8000) << 16))


@njit(error_model="numpy")
def is_less(x, y):
    """Whether a float16 is under another, by their bits (int16): NaN never is."""
    x_size, y_size = np.int16(x & np.int16(0x7FFF)), np.int16(y & np.int16(0x7FFF))
    # Without a sign bit: both zeros are 0.
    x_place = np.int16(-x_size) if x < 0 else x_size
    y_place = np.int16(-y_size) if y < 0 else y_size
    infinity = np.int16(_INFINITY)
    return (x_place < y_place) & (x_size <= infinity) & (y_size <= infinity)
