"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""

import numpy as np
from numba import njit

from ..resize import RESIZE_BILINEAR_ARGS, RESIZE_NEAREST_ARGS
from .family import KernelFamily
from .memory import float32_pointer, int8_pointer, int16_pointer, int32_pointer, uint8_pointer
from .run_copy import copy_run

kernels = KernelFamily()

_ROUNDING = np.int32(1 << 21)


@njit(inline="always")
def lerp_f32(a, b, weight):
    return a + (b - a) * weight


@njit(inline="always")
def lerp_eleven_bits(a, b, weight):
    """a * 2048 + (b - a) * weight, exact in int32 for the 20-bit values it is used on."""
    return np.int32(
        np.int32(np.int32(a) << 11) + np.int32(np.int32(np.int32(b) - np.int32(a)) * np.int32(weight))
    )


@njit(inline="always")
def as_is(value):
    return value


@njit(inline="always")
def drop_22_bits(value):
    return np.int32(value + _ROUNDING) >> 22


def separable(item_pointer, row_pointer, row_bytes, lerp, finish):
    """A kernel that interpolates whole input rows along W, keeps two of them, and blends them along H.

    Output rows that lie between the same two input rows use them again.
    """

    @njit(error_model="numpy")
    def widen(a, x, row):
        left, right = int32_pointer(a.left), int32_pointer(a.right)
        weights = row_pointer(a.column_weight)
        to = row_pointer(row)
        depth = a.depth
        for column in range(a.out_width):
            weight = weights[column]
            first = item_pointer(x + left[column] * row_bytes)
            second = item_pointer(x + right[column] * row_bytes)
            at = column * depth
            for c in range(depth):
                to[at + c] = lerp(first[c], second[c], weight)

    @njit(error_model="numpy")
    def blend(upper, lower, weight, y, size):
        above, below = row_pointer(upper), row_pointer(lower)
        out = item_pointer(y)
        for i in range(size):
            out[i] = finish(lerp(above[i], below[i], weight))

    def resize(a, chunk, chunks):
        size = a.out_width * a.depth
        upper = a.scratch + chunk * 8 * size
        lower = upper + 4 * size
        held_upper = held_lower = -1
        tops, bottoms = int32_pointer(a.top), int32_pointer(a.bottom)
        weights = row_pointer(a.row_weight)
        total = a.batch * a.out_height
        for row in range(total * chunk // chunks, total * (chunk + 1) // chunks):
            first = row // a.out_height * a.in_height
            out_row = row % a.out_height
            top, bottom = first + tops[out_row], first + bottoms[out_row]
            if top == held_lower:
                upper, lower = lower, upper
                held_upper, held_lower = held_lower, held_upper
            if top != held_upper:
                widen(a, a.x + top * a.in_row * row_bytes, upper)
                held_upper = top
            if bottom != held_lower:
                widen(a, a.x + bottom * a.in_row * row_bytes, lower)
                held_lower = bottom
            blend(upper, lower, weights[out_row], a.y + row * size * row_bytes, size)
        return 0

    return resize


kernels.add(RESIZE_BILINEAR_ARGS, "resize_bilinear_f32")(
    separable(float32_pointer, float32_pointer, 4, lerp_f32, as_is)
)
kernels.add(RESIZE_BILINEAR_ARGS, "resize_bilinear_u8")(
    separable(uint8_pointer, int32_pointer, 1, lerp_eleven_bits, drop_22_bits)
)
kernels.add(RESIZE_BILINEAR_ARGS, "resize_bilinear_i8")(
    separable(int8_pointer, int32_pointer, 1, lerp_eleven_bits, drop_22_bits)
)


@njit(inline="always")
def weigh_f32(tl, bl, tr, br, v, h, offset):
    one = np.float32(1)
    return (tl * (one - v) * (one - h) + bl * v * (one - h) + tr * (one - v) * h + br * v * h) + offset


@njit(inline="always")
def weigh_reference_f32(tl, bl, tr, br, v, h):
    return weigh_f32(tl, bl, tr, br, v, h, np.float32(0))


@njit(inline="always")
def weigh_reference_u8(tl, bl, tr, br, v, h):
    tl, bl, tr, br = np.float32(tl), np.float32(bl), np.float32(tr), np.float32(br)
    return np.int32(weigh_f32(tl, bl, tr, br, v, h, np.float32(0.5)))


@njit(inline="always")
def weigh_integer(tl, bl, tr, br, v, h):
    """Weights in 1/1024; rounds half away from zero."""
    v, h = np.int64(v), np.int64(h)
    total = tl * (1024 - v) * (1024 - h) + bl * v * (1024 - h) + tr * (1024 - v) * h + br * v * h
    return (total + (1 << 19)) >> 20 if total > 0 else -((-total + (1 << 19)) >> 20)


def weighted(item_pointer, item_bytes, weight_pointer, weigh):
    """A kernel that weighs the four pixels around each output pixel, as the reference kernels do."""

    def resize(a, chunk, chunks):
        depth = a.depth
        tops, bottoms = int32_pointer(a.top), int32_pointer(a.bottom)
        lefts, rights = int32_pointer(a.left), int32_pointer(a.right)
        row_weights, column_weights = weight_pointer(a.row_weight), weight_pointer(a.column_weight)
        total = a.batch * a.out_height
        for row in range(total * chunk // chunks, total * (chunk + 1) // chunks):
            first = row // a.out_height * a.in_height
            out_row = row % a.out_height
            top = a.x + (first + tops[out_row]) * a.in_row * item_bytes
            bottom = a.x + (first + bottoms[out_row]) * a.in_row * item_bytes
            v = row_weights[out_row]
            for column in range(a.out_width):
                left, right = lefts[column] * item_bytes, rights[column] * item_bytes
                h = column_weights[column]
                tl, tr = item_pointer(top + left), item_pointer(top + right)
                bl, br = item_pointer(bottom + left), item_pointer(bottom + right)
                y = item_pointer(a.y + (row * a.out_width + column) * depth * item_bytes)
                for c in range(depth):
                    y[c] = weigh(tl[c], bl[c], tr[c], br[c], v, h)
        return 0

    return resize


kernels.add(RESIZE_BILINEAR_ARGS, "resize_bilinear_reference_f32")(
    weighted(float32_pointer, 4, float32_pointer, weigh_reference_f32)
)
kernels.add(RESIZE_BILINEAR_ARGS, "resize_bilinear_reference_u8")(
    weighted(uint8_pointer, 1, float32_pointer, weigh_reference_u8)
)
kernels.add(RESIZE_BILINEAR_ARGS, "resize_bilinear_integer_i8")(
    weighted(int8_pointer, 1, int32_pointer, weigh_integer)
)
kernels.add(RESIZE_BILINEAR_ARGS, "resize_bilinear_integer_i16")(
    weighted(int16_pointer, 2, int32_pointer, weigh_integer)
)


@kernels.add(RESIZE_NEAREST_ARGS)
def resize_nearest(a, chunk, chunks):
    rows, columns = int32_pointer(a.rows), int32_pointer(a.columns)
    in_row_bytes = a.in_width * a.pixel_bytes
    out_row_bytes = a.out_width * a.pixel_bytes
    total = a.batch * a.out_height
    start = total * chunk // chunks
    for row in range(start, total * (chunk + 1) // chunks):
        out_row = row % a.out_height
        y = a.y + row * out_row_bytes
        if row > start and out_row and rows[out_row] == rows[out_row - 1]:
            copy_run(y, y - out_row_bytes, out_row_bytes)
            continue
        x = a.x + (row // a.out_height * a.in_height + rows[out_row]) * in_row_bytes
        for column in range(a.out_width):
            copy_run(y + column * a.pixel_bytes, x + columns[column] * a.pixel_bytes, a.pixel_bytes)
    return 0
