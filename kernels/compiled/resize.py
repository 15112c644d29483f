"""RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR."""

import numpy as np
from numba import njit

from ..resize import RESIZE_BILINEAR_ARGS, RESIZE_NEAREST_ARGS
from .driver.kernel_source import KernelSources
from .language.element_types import F32, I8, I16, I32, U8, ElementType
from .language.memory import int32_pointer
from .run_copy import copy_run

kernels = KernelSources()

_ROUNDING = np.int32(1 << 21)


@njit(error_model="numpy")
def lerp_f32(a, b, weight):
    return a + (b - a) * weight


@njit(error_model="numpy")
def lerp_eleven_bits(a, b, weight):
    """a * 2048 + (b - a) * weight, exact in int32 for the 20-bit values it is used on."""
    return np.int32(
        np.int32(np.int32(a) << 11) + np.int32(np.int32(np.int32(b) - np.int32(a)) * np.int32(weight))
    )


@njit(error_model="numpy")
def as_is(value):
    return value


def drop_22_bits(type_: ElementType):
    width = type_.width

    @njit(error_model="numpy")
    def finish(value):
        return width(np.int32(value + _ROUNDING) >> 22)

    return finish


drop_22_bits_u8, drop_22_bits_i8 = drop_22_bits(U8), drop_22_bits(I8)


def separable(item: ElementType, row_item: ElementType, lerp, finish):
    """A kernel that interpolates whole input rows along W, keeps two of them, and blends them along H.

    Output rows that lie between the same two input rows use them again.
    """

    read, write, write_row = item.read, item.write, row_item.write
    item_bytes, row_pointer = item.bytes, row_item.pointer

    @njit(error_model="numpy")
    def widen(a, x, row):
        left, right = int32_pointer(a.left), int32_pointer(a.right)
        weights = row_pointer(a.column_weight)
        depth = a.depth
        for column in range(a.out_width):
            weight = weights[column]
            first, second = x + left[column] * item_bytes, x + right[column] * item_bytes
            to = row + 4 * column * depth
            for c in range(depth):
                write_row(to, c, lerp(read(first, c), read(second, c), weight))

    @njit(error_model="numpy")
    def blend(upper, lower, weight, y, size):
        # Plain loads: these rows are written by the kernel itself.
        above, below = row_pointer(upper), row_pointer(lower)
        for i in range(size):
            write(y, i, finish(lerp(above[i], below[i], weight)))

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
                widen(a, a.x + top * a.in_row * item_bytes, upper)
                held_upper = top
            if bottom != held_lower:
                widen(a, a.x + bottom * a.in_row * item_bytes, lower)
                held_lower = bottom
            blend(upper, lower, weights[out_row], a.y + row * size * item_bytes, size)
        return 0

    return resize


kernels.add(RESIZE_BILINEAR_ARGS, "resize_bilinear_f32")(separable(F32, F32, lerp_f32, as_is))
kernels.add(RESIZE_BILINEAR_ARGS, "resize_bilinear_u8")(separable(U8, I32, lerp_eleven_bits, drop_22_bits_u8))
kernels.add(RESIZE_BILINEAR_ARGS, "resize_bilinear_i8")(separable(I8, I32, lerp_eleven_bits, drop_22_bits_i8))


def weigh(lerp, finish):
    """Along W, then along H."""

    @njit(error_model="numpy")
    def weighed(tl, tr, bl, br, v, h):
        return finish(lerp(lerp(tl, tr, h), lerp(bl, br, h), v))

    return weighed


@njit(error_model="numpy")
def sum_f32(tl, tr, bl, br, v, h, offset):
    one = np.float32(1)
    upper, lower = one - v, v
    total = tl * upper * (one - h) + bl * lower * (one - h)
    return total + tr * upper * h + br * lower * h + offset


@njit(error_model="numpy")
def sum_products_f32(tl, tr, bl, br, v, h, offset):
    """Each pixel by one weight, as LiteRT's own kernels have it."""
    one = np.float32(1)
    total = tl * ((one - v) * (one - h)) + tr * ((one - v) * h)
    return total + bl * (v * (one - h)) + br * (v * h) + offset


def weigh_floats(total):
    """Of floats, by a sum of theirs."""

    @njit(error_model="numpy")
    def weighed(tl, tr, bl, br, v, h):
        return total(tl, tr, bl, br, v, h, np.float32(0))

    return weighed


def weigh_bytes(total):
    """Of uint8, by a sum of floats."""

    @njit(error_model="numpy")
    def weighed(tl, tr, bl, br, v, h):
        tl, tr, bl, br = np.float32(tl), np.float32(tr), np.float32(bl), np.float32(br)
        return np.uint8(np.int32(total(tl, tr, bl, br, v, h, np.float32(0.5))))

    return weighed


@njit(error_model="numpy")
def sum_integer(tl, tr, bl, br, v, h):
    """Weights in 1/1024; rounds half away from zero."""
    v, h = np.int64(v), np.int64(h)
    total = tl * (1024 - v) * (1024 - h) + bl * v * (1024 - h) + tr * (1024 - v) * h + br * v * h
    return (total + (1 << 19)) >> 20 if total > 0 else -((-total + (1 << 19)) >> 20)


def weigh_integer(type_: ElementType):
    width = type_.width

    @njit(error_model="numpy")
    def weighed(tl, tr, bl, br, v, h):
        return width(sum_integer(tl, tr, bl, br, v, h))

    return weighed


def direct(item: ElementType, weight_item: ElementType, weighed):
    """A kernel that takes each output pixel from the four input pixels around it."""
    read, write, item_bytes = item.read, item.write, item.bytes
    weight_pointer = weight_item.pointer

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
                tl, tr, bl, br = top + left, top + right, bottom + left, bottom + right
                y = a.y + (row * a.out_width + column) * depth * item_bytes
                for c in range(depth):
                    write(y, c, weighed(read(tl, c), read(tr, c), read(bl, c), read(br, c), v, h))
        return 0

    return resize


for _name, _kernel in (
    ("resize_bilinear_direct_f32", direct(F32, F32, weigh(lerp_f32, as_is))),
    ("resize_bilinear_direct_u8", direct(U8, I32, weigh(lerp_eleven_bits, drop_22_bits_u8))),
    ("resize_bilinear_direct_i8", direct(I8, I32, weigh(lerp_eleven_bits, drop_22_bits_i8))),
    ("resize_bilinear_reference_f32", direct(F32, F32, weigh_floats(sum_f32))),
    ("resize_bilinear_reference_u8", direct(U8, F32, weigh_bytes(sum_f32))),
    ("resize_bilinear_products_f32", direct(F32, F32, weigh_floats(sum_products_f32))),
    ("resize_bilinear_products_u8", direct(U8, F32, weigh_bytes(sum_products_f32))),
    ("resize_bilinear_integer_i8", direct(I8, I32, weigh_integer(I8))),
    ("resize_bilinear_integer_i16", direct(I16, I32, weigh_integer(I16))),
):
    kernels.add(RESIZE_BILINEAR_ARGS, _name)(_kernel)


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
