"""float32 rows quantized to 0..255, each by its own range, as XNNPACK quantizes dynamically."""

import numpy as np
from numba import carray, float32, int64, njit

from ..contraction.blocks import QUANTIZE_ROWS, ROW_QUANTIZATION
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, record_pointer
from .language.simd import Emitter, Value, f32, i8, i32, microkernel, vector
from .requantize import round_half_even
from .run_copy import fill_run

kernels = KernelSources()
_quantization_at = record_pointer(ROW_QUANTIZATION)

_LANES = 16
_FLOATS, _INTS = vector(f32, _LANES), vector(i32, _LANES)
_ROUNDER, _ROUNDER_BITS = 12582912.0, 0x4B400000
EVERY_BYTE = 0x0101010101010101


def _emit_range(e: Emitter, x: Value, count: Value, target: Value) -> None:
    """Store the least and the greatest of x and 0."""
    b = e.builder
    x = e.pointer(x)
    whole = b.and_(count, e.const(-_LANES))

    def widened(acc: list[Value], value: Value) -> list[Value]:
        return [e.fmin(value, acc[0]), e.fmax(value, acc[1])]

    def body(k: Value, acc: list[Value]) -> list[Value]:
        return widened(acc, e.load(e.offset(x, b.mul(k, e.const(4))), _FLOATS))

    zeros = e.const(0.0, _FLOATS)
    acc = e.loop(whole, [zeros, zeros], body, step=_LANES)
    mask = e.first_lanes(_LANES, b.sub(count, whole))
    acc = widened(acc, e.masked_load(e.offset(x, b.mul(whole, e.const(4))), _FLOATS, mask))
    lanes = _LANES
    while lanes > 1:
        lanes //= 2
        order = [(i + lanes) % _LANES for i in range(_LANES)]
        turned = [e.shuffle(v, v, order) for v in acc]
        acc = [e.fmin(turned[0], acc[0]), e.fmax(turned[1], acc[1])]
    for i, value in enumerate(acc):
        e.store(b.extract_element(value, e.const(0, i32)), e.pointer(target), 4 * i)


def _emit_quantize(e: Emitter, x: Value, count: Value, q: Value, scale: Value, zero_point: Value) -> None:
    """q = x * scale, rounded half to even, plus zero_point, within 0..255."""
    b = e.builder
    x, q = e.pointer(x), e.pointer(q)
    scales = e.splat(scale, _LANES)
    zero_points = e.splat(b.trunc(zero_point, i32), _LANES)

    def quantized(value: Value) -> Value:
        product = b.fmul(value, scales)
        product = e.fmin(e.fmax(product, e.const(-1024.0, _FLOATS)), e.const(1024.0, _FLOATS))
        bits = b.bitcast(b.fadd(product, e.const(_ROUNDER, _FLOATS)), _INTS)
        shifted = b.add(b.sub(bits, e.const(_ROUNDER_BITS, _INTS)), zero_points)
        clamped = e.smin(e.smax(shifted, e.const(0, _INTS)), e.const(255, _INTS))
        return b.trunc(clamped, vector(i8, _LANES))

    whole = b.and_(count, e.const(-_LANES))

    def body(k: Value, _: list[Value]) -> list[Value]:
        e.store(quantized(e.load(e.offset(x, b.mul(k, e.const(4))), _FLOATS)), e.offset(q, k))
        return []

    e.loop(whole, [], body, step=_LANES)
    mask = e.first_lanes(_LANES, b.sub(count, whole))
    rest = e.masked_load(e.offset(x, b.mul(whole, e.const(4))), _FLOATS, mask)
    e.masked_store(quantized(rest), e.offset(q, whole), mask)


row_range = microkernel("row_range", [int64] * 3, _emit_range)
_quantize = microkernel("quantize_row", [int64, int64, int64, float32, int64], _emit_quantize)


@njit(error_model="numpy")
def begin_of(a, part):
    """Where a part of a row begins: at a whole vector."""
    return a.depth if part == a.parts else a.depth * part // a.parts & -_LANES


@kernels.add(QUANTIZE_ROWS)
def row_ranges(a, chunk, chunks):
    for i in range(a.rows * a.parts * chunk // chunks, a.rows * a.parts * (chunk + 1) // chunks):
        row = i // a.parts
        part = i - row * a.parts
        begin = begin_of(a, part)
        row_range(a.x + (row * a.depth + begin) * 4, begin_of(a, part + 1) - begin, a.ranges + i * 8)
    return 0


@njit(error_model="numpy")
def found_range(a, row):
    """The least and the greatest of a row and 0."""
    if a.parts == 1:
        row_range(a.x + row * a.depth * 4, a.depth, a.quantization + row * 8)
        ends = carray(float32_pointer(a.quantization + row * 8), 2)
        return ends[0], ends[1]
    ends = carray(float32_pointer(a.ranges + row * a.parts * 8), 2 * a.parts)
    low, high = ends[0], ends[1]
    for part in range(1, a.parts):
        low, high = min(low, ends[2 * part]), max(high, ends[2 * part + 1])
    return low, high


@njit(error_model="numpy")
def note_quantization(a, row, zero_point, scale):
    quantization = carray(_quantization_at(a.quantization + row * 8), 1)[0]
    quantization.zero_point = zero_point
    quantization.scale = scale
    if a.padding != 0:
        byte = np.int64(zero_point) * EVERY_BYTE
        fill_run(a.padding + row * a.padding_bytes, byte, a.padding_bytes)


@kernels.add(QUANTIZE_ROWS)
def quantize_rows(a, chunk, chunks):
    for i in range(a.rows * a.parts * chunk // chunks, a.rows * a.parts * (chunk + 1) // chunks):
        row = i // a.parts
        part = i - row * a.parts
        low, high = found_range(a, row)
        scale = np.float32(1)
        if low != high:
            scale = np.float32(255) / (high - low)
        at_low, at_high = low * scale, high * scale
        if (np.float32(-128) + at_low) + (np.float32(127) + at_high) > np.float32(0):
            zero_point = np.float32(-128) - at_low
        else:
            zero_point = np.float32(127) - at_high
        zero_point = min(max(zero_point, np.float32(-128)), np.float32(127))
        stored = round_half_even(zero_point) + np.int32(128)
        begin = begin_of(a, part)
        x, count = a.x + (row * a.depth + begin) * 4, begin_of(a, part + 1) - begin
        _quantize(x, count, a.q + row * a.stride + begin, scale, np.int64(stored))
        if part == 0:
            note_quantization(a, row, stored, np.float32(1) / scale)
    return 0
