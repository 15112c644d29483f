"""Conversions between reals and quantized types, and among quantized types."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ..quantize import AFFINE, CONVERT, REQUANTIZE
from .elements import (
    read_f32,
    read_i8,
    read_i16,
    read_i32,
    read_u8,
    read_u16,
    write_f32,
    write_i8,
    write_i16,
    write_i32,
    write_u8,
)
from .family import KernelFamily
from .requantize import requantize_double_rounding
from .unary import unary_kernel
from .vector_math import clamp_f32, half_to_f32

kernels = KernelFamily()

_HALF = np.float32(0.5)
_ZERO = np.float32(0)
_ONE = np.float32(1)


def _affine_kernel(read: Any, write: Any, convert: Callable) -> Callable:
    """y = convert(x, scale, 1 / scale, zero) over [outer, channels, inner]; rows are cut into chunks."""

    def kernel(a, chunk, chunks):
        x, y, inner = a.x, a.y, a.inner
        rows = a.outer * a.channels
        first, last = 0, inner
        row, last_row = rows * chunk // chunks, rows * (chunk + 1) // chunks
        if rows == 1:
            row, last_row = 0, 1
            first, last = inner * chunk // chunks, inner * (chunk + 1) // chunks
        while row < last_row:
            scale = read_f32(a.scales, row % a.channels)
            inverse = _ONE / scale
            zero = read_i32(a.zeros, row % a.channels)
            for i in range(row * inner + first, row * inner + last):
                write(y, i, convert(read(x, i), scale, inverse, zero))
            row += 1
        return 0

    return kernel


@njit(error_model="numpy")
def _dequantize(q, scale, inverse, zero):
    return np.float32(np.int32(q) - zero) * scale


def _quantize(lowest: int, highest: int) -> Callable:
    """round(x / scale), half to even, as a product with 1 / scale; then plus zero, saturated."""

    @njit(error_model="numpy")
    def convert(x, scale, inverse, zero):
        low, high = np.float32(lowest - zero), np.float32(highest - zero)
        return np.int32(np.int32(np.rint(clamp_f32(x * inverse, low, high))) + zero)

    return convert


def _quantize_reference(lowest: int, highest: int) -> Callable:
    """round(x / scale), half away from zero; then plus zero, saturated."""

    @njit(error_model="numpy")
    def convert(x, scale, inverse, zero):
        low, high = np.float32(lowest - zero), np.float32(highest - zero)
        scaled = clamp_f32(x / scale, low, high)
        whole = np.trunc(scaled)
        rest = scaled - whole
        whole = whole + (_ONE if rest >= _HALF else _ZERO)
        whole = whole - (_ONE if rest <= -_HALF else _ZERO)
        return np.int32(np.int32(whole) + zero)

    return convert


def _nothing(block):
    return 0


def _dequantize_f16(bits, p):
    return half_to_f32(np.int32(bits))


def _requantization(block):
    return block.x_zero, block.multiplier, block.shift, block.y_zero


def _requantize(lowest: int, highest: int) -> Callable:
    def convert(x, p):
        x_zero, multiplier, shift, y_zero = p
        offset = np.int32(np.int32(x) - x_zero)
        return requantize_double_rounding(offset, multiplier, shift, y_zero, lowest, highest)

    return convert


for _suffix, _read, _write, _limits in (
    ("i8", read_i8, write_i8, (-128, 127)),
    ("u8", read_u8, write_u8, (0, 255)),
    ("i16", read_i16, write_i16, (-32768, 32767)),
):
    kernels.add(AFFINE, f"quantize_{_suffix}")(_affine_kernel(read_f32, _write, _quantize(*_limits)))
    kernels.add(AFFINE, f"quantize_reference_{_suffix}")(
        _affine_kernel(read_f32, _write, _quantize_reference(*_limits))
    )
    kernels.add(AFFINE, f"dequantize_{_suffix}")(_affine_kernel(_read, write_f32, _dequantize))

kernels.add(CONVERT, "dequantize_f16")(unary_kernel(read_u16, write_f32, _nothing, _dequantize_f16))

for _name, _read, _write, _limits in (
    ("i8_i16", read_i8, write_i16, (-32768, 32767)),
    ("u8_i16", read_u8, write_i16, (-32768, 32767)),
    ("i16_i8", read_i16, write_i8, (-128, 127)),
    ("i16_i16", read_i16, write_i16, (-32768, 32767)),
    ("i16_i32", read_i16, write_i32, (-(2**31), 2**31 - 1)),
    ("i32_i8", read_i32, write_i8, (-128, 127)),
    ("i32_i16", read_i32, write_i16, (-32768, 32767)),
):
    kernels.add(REQUANTIZE, f"requantize_{_name}")(
        unary_kernel(_read, _write, _requantization, _requantize(*_limits))
    )
