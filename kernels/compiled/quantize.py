"""Conversions between reals and quantized types, in the default's rounding and in that of the reference."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, types

from ..quantize import AFFINE, CONVERT, QUANTIZED_AT_ONCE
from .driver.kernel_source import KernelSources
from .element_loops import parameters, row_kernel, unary_kernel
from .language.elements import read_f32, read_i32, read_u16, write_f32, write_i8, write_i16, write_u8
from .language.half_bits import from_half
from .language.simd import Emitter, Value, constant, f32, i8, i16, i32, vector
from .language.vector_math import clamp_f32
from .vector_map import map_row

kernels = KernelSources()

_ZERO, _HALF, _ONE = np.float32(0), np.float32(0.5), np.float32(1)


def affine_kernel(convert: Callable) -> Callable:
    """The loop over a tensor whose scales broadcast.

    convert(block, channel, at, count) converts count elements of one channel from the element offset `at` on.
    """

    @njit(error_model="numpy")
    def row(block, x_at, x_step, channel, channel_step, y_at, count):
        if channel_step == 0:
            convert(block, channel, y_at, count)
        else:
            for i in range(count):
                convert(block, channel + i, y_at + i, 1)

    return row_kernel(row, ("x", "scales"))


def _dequantize_element(signed: bool) -> Callable[..., Value]:
    def function(e: Emitter, q: Value, scale: Value, zero: Value) -> Value:
        lanes = scale.type.count
        wide = (e.builder.sext if signed else e.builder.zext)(q, vector(i32, lanes))
        return e.builder.fmul(e.builder.sitofp(e.builder.sub(wide, zero), vector(f32, lanes)), scale)

    return function


def _quantize_element(bits: int) -> Callable[..., Value]:
    """round(x / scale), half to even, as a product with 1 / scale; then plus zero, saturated.

    NaN becomes the highest of 8 bits, as in XNNPACK, the lowest of 16.
    """

    def function(e: Emitter, x: Value, inverse: Value, zero: Value, low: Value, high: Value) -> Value:
        builder, lanes = e.builder, x.type.count
        scaled = builder.fmul(x, inverse)
        scaled = e.fmax(e.fmin(scaled, high), low) if bits == 8 else e.fmin(e.fmax(scaled, low), high)
        # Adding 1.5 * 2^23 rounds; the integer is then in the low bits.
        rounded = builder.fadd(scaled, constant(x.type, 12582912.0))
        offset = builder.sub(zero, constant(zero.type, 0x4B400000))
        whole = builder.add(builder.bitcast(rounded, zero.type), offset)
        return builder.trunc(whole, vector({8: i8, 16: i16}[bits], lanes))

    return function


def _dequantize_kernel(row: Any, itemsize: int) -> Callable:
    @njit(error_model="numpy")
    def convert(a, channel, at, count):
        scale, zero = read_f32(a.scales, channel), read_i32(a.zeros, channel)
        row(a.x + at * itemsize, a.y + at * 4, count, scale, zero)

    return affine_kernel(convert)


def _quantize_kernel(row: Any, itemsize: int, lowest: int, highest: int) -> Callable:
    @njit(error_model="numpy")
    def convert(a, channel, at, count):
        inverse, zero = read_f32(a.scales, channel), read_i32(a.zeros, channel)
        low, high = np.float32(lowest - zero), np.float32(highest - zero)
        row(a.x + at * 4, a.y + at * itemsize, count, inverse, zero, low, high)

    return affine_kernel(convert)


def _quantize_words_kernel(row: Any) -> Callable:
    """int16, of one channel: the elements behind the last whole vector are exact, half away from zero."""

    @njit(error_model="numpy")
    def convert(a, channel, at, count):
        inverse, scale, zero = read_f32(a.scales, 0), np.float64(read_f32(a.scales, 1)), read_i32(a.zeros, 0)
        low, high = np.float64(-32768 - zero), np.float64(32767 - zero)
        end, whole_vectors = at + count, a.shape[-1] // QUANTIZED_AT_ONCE * QUANTIZED_AT_ONCE
        fast = min(count, max(whole_vectors - at, 0))
        row(a.x + at * 4, a.y + at * 2, fast, inverse, zero, np.float32(low), np.float32(high))
        for i in range(at + fast, end):
            scaled = np.float64(read_f32(a.x, i)) / scale
            scaled = min(scaled if scaled > low else low, high)
            rounded = np.floor(np.abs(scaled) + 0.5)
            write_i16(a.y, i, np.int16(np.int32(rounded if scaled > 0 else -rounded) + zero))

    return affine_kernel(convert)


@njit(error_model="numpy")
def _dequantize_f16(bits, p):
    return from_half(np.int32(bits))


for _suffix, _type, _limits in (
    ("i8", i8, (-128, 127)),
    ("u8", i8, (0, 255)),
    ("i16", i16, (-32768, 32767)),
):
    _bits, _signed = _type.width, _limits[0] < 0
    _from_reals = map_row(
        f"quantize_row_{_suffix}",
        _quantize_element(_bits),
        [types.float32, types.int32, types.float32, types.float32],
        result=_type,
    )
    _to_reals = map_row(
        f"dequantize_row_{_suffix}",
        _dequantize_element(_signed),
        [types.float32, types.int32],
        source=_type,
    )
    kernels.add(AFFINE, f"quantize_{_suffix}")(
        _quantize_words_kernel(_from_reals)
        if _bits == 16
        else _quantize_kernel(_from_reals, _bits // 8, *_limits)
    )
    kernels.add(AFFINE, f"dequantize_{_suffix}")(_dequantize_kernel(_to_reals, _bits // 8))

kernels.add(CONVERT, "dequantize_f16")(unary_kernel(read_u16, write_f32, parameters(""), _dequantize_f16))


def _quantize_reference_kernel(write: Any, lowest: int, highest: int) -> Callable:
    """round(x / scale), half away from zero; then plus zero, saturated; NaN becomes the lowest."""

    @njit(error_model="numpy")
    def convert(a, channel, at, count):
        x, y = a.x, a.y
        scale, zero = read_f32(a.scales, channel), read_i32(a.zeros, channel)
        low, high = np.float32(lowest - zero), np.float32(highest - zero)
        for i in range(count):
            scaled = read_f32(x, at + i) / scale
            scaled = clamp_f32(scaled if scaled > low else low, low, high)
            whole = np.trunc(scaled)
            rest = scaled - whole
            whole = whole + (_ONE if rest >= _HALF else _ZERO)
            whole = whole - (_ONE if rest <= -_HALF else _ZERO)
            write(y, at + i, np.int32(np.int32(whole) + zero))

    return affine_kernel(convert)


for _suffix, _write, _limits in (
    ("i8", write_i8, (-128, 127)),
    ("u8", write_u8, (0, 255)),
    ("i16", write_i16, (-32768, 32767)),
):
    kernels.add(AFFINE, f"quantize_reference_{_suffix}")(_quantize_reference_kernel(_write, *_limits))
