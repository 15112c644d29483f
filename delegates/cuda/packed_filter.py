"""How a filter lies in memory as a matrix product reads it, and which windows need no walk at all."""

from __future__ import annotations

import math

import numpy as np

from ...kernels.contraction.geometry import ConvGeometry

ALIGNED_BYTES = 16
_MOST_FLAT_DEPTH = 8  # up to this depth a filter's taps and depth are walked as one axis
_MOST_FLAT_TAPS = 30  # rows and columns of a filter, a bit each
_MOST_UNIT = 16


def flat_depth(g: ConvGeometry) -> int:
    """The depth of a filter of few channels and several taps, 0 for others."""
    is_flat = g.filter_depth <= _MOST_FLAT_DEPTH and g.taps > 1
    return g.filter_depth if is_flat and g.filter_height + g.filter_width <= _MOST_FLAT_TAPS else 0


def tap_depth(g: ConvGeometry, element_bytes: int) -> int:
    """Elements from one tap of a packed filter to the next."""
    if flat_depth(g):
        return g.filter_depth
    step = ALIGNED_BYTES // element_bytes
    return -(-g.filter_depth // step) * step


def packed(values: np.ndarray, g: ConvGeometry) -> np.ndarray:
    """Weights [sets, O, taps, depth] as rows [O, sets * taps * padded depth] that start at 16 bytes."""
    sets, columns, taps, depth = values.shape
    wide = tap_depth(g, values.itemsize)
    rows = np.zeros((columns, sets, taps, wide), values.dtype)
    rows[..., :depth] = values.transpose(1, 0, 2, 3)
    flat = rows.reshape(columns, -1)
    result = np.zeros((columns, row_stride(g, sets, values.itemsize)), values.dtype)
    result[:, : flat.shape[1]] = flat
    return result


def row_stride(g: ConvGeometry, sets: int, element_bytes: int) -> int:
    """Elements of a packed filter's row."""
    step = ALIGNED_BYTES // element_bytes
    return -(-sets * g.taps * tap_depth(g, element_bytes) // step) * step


def flat_table(g: ConvGeometry, sets: int, element_bytes: int) -> np.ndarray:
    """For each element of a flat filter's row its place in the image, and the bits it needs, int32 [2, -].

    The bits are those of the filter's rows, then of its columns; elements that pad the row need one more.
    """
    tap, c = np.divmod(np.arange(sets * g.taps * g.filter_depth), g.filter_depth)
    dy, dx = np.divmod(tap % g.taps, g.filter_width)
    last = g.filter_height + g.filter_width
    table = np.zeros((2, row_stride(g, sets, element_bytes)), np.int32)
    table[1] = 1 << last
    table[0, : tap.size] = (dy * g.dilation_h * g.in_width + dx * g.dilation_w) * g.in_depth + c
    table[1, : tap.size] = 1 << dy | 1 << (g.filter_height + dx)
    return table


def is_pointwise(g: ConvGeometry) -> bool:
    """Whether output pixel m needs input pixel m alone."""
    return (
        g.taps == 1
        and (g.out_height, g.out_width) == (g.in_height, g.in_width)
        and g.stride_h == 1
        and (g.stride_w == 1 and g.pad_top == 0 and g.pad_left == 0)
    )


def unit_of(*sizes: int) -> int:
    """The largest power of two, up to 16, that divides them all."""
    return math.gcd(_MOST_UNIT, *sizes)
