"""float32 rows quantized to 0..255, each by its own range, as TFLite's tensor_utils do it."""

import math

import numpy as np
from numba import carray, float32, int64, njit

from ..contraction.blocks import QUANTIZE_ROWS
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, uint8_pointer
from .language.simd import Emitter, Value, f32, i1, i8, i32, microkernel, vector
from .quantize_rows import begin_of, found_range, note_quantization

kernels = KernelSources()
_LANES = 16
_FLOATS, _INTS = vector(f32, _LANES), vector(i32, _LANES)
# Products of this size and below are whole numbers and halves that float32 holds, and rounding them is exact.
FARTHEST = np.float32(1 << 20)


def _emit_quantize(
    e: Emitter, x: Value, count: Value, q: Value, factor: Value, zero_point: Value, lowest: Value
) -> Value:
    """q = x * factor, rounded half away from zero, plus zero_point, within lowest..127, plus 128.

    For whole vectors of x. Products must be no farther than FARTHEST; gives 0 where x has a NaN, else 1.
    """
    b = e.builder
    x, q = e.pointer(x), e.pointer(q)
    factors = e.splat(factor, _LANES)
    zero_points, lows = (e.splat(b.trunc(v, i32), _LANES) for v in (zero_point, lowest))
    signs, halves = e.const(-(1 << 31), _INTS), e.const(0.5, _FLOATS)

    def body(k: Value, acc: list[Value]) -> list[Value]:
        values = e.load(e.offset(x, b.mul(k, e.const(4))), _FLOATS)
        product = b.fmul(values, factors)
        whole = b.fptosi(product, _INTS)
        rest = b.fsub(product, b.sitofp(whole, _FLOATS))
        # 1 or -1, as the product's sign says.
        one = b.or_(b.ashr(b.and_(b.bitcast(product, _INTS), signs), e.const(31, _INTS)), e.const(1, _INTS))
        is_far = b.fcmp_ordered(">=", e.call("llvm.fabs.v16f32", _FLOATS, rest), halves)
        rounded = b.add(whole, b.select(is_far, one, e.const(0, _INTS)))
        clamped = e.smin(e.smax(b.add(rounded, zero_points), lows), e.const(127, _INTS))
        stored = b.trunc(b.add(clamped, e.const(128, _INTS)), vector(i8, _LANES))
        e.store(stored, e.offset(q, k))
        return [b.and_(acc[0], b.fcmp_ordered("==", values, values))]

    (numbers,) = e.loop(count, [e.const(1, vector(i1, _LANES))], body, step=_LANES)
    all_numbers = e.call("llvm.vector.reduce.and.v16i1", i1, numbers)
    return b.zext(all_numbers, e.const(0).type)


_quantize = microkernel(
    "quantize_row_away", [int64, int64, int64, float32, int64, int64], _emit_quantize, result=int64
)


@njit(error_model="numpy")
def round_half_away(x):
    """A float, rounded in float64, as a float64."""
    return math.copysign(math.floor(abs(np.float64(x)) + 0.5), np.float64(x))


@njit(error_model="numpy")
def zero_point_of(low, high, scale):
    """The zero point in -128..127 (as a float64) that puts the better of both ends on a whole number."""
    from_low, from_high = -128.0 - low / scale, 127.0 - high / scale
    zero_point = from_high
    if 128.0 + abs(low / scale) < 127.0 + abs(high / scale):
        zero_point = from_low
    return round_half_away(min(max(zero_point, -128.0), 127.0))


@kernels.add(QUANTIZE_ROWS)
def quantize_rows_reference(a, chunk, chunks):
    for i in range(a.rows * a.parts * chunk // chunks, a.rows * a.parts * (chunk + 1) // chunks):
        row = i // a.parts
        part = i - row * a.parts
        begin = begin_of(a, part)
        depth = begin_of(a, part + 1) - begin
        x_at, q_at = a.x + (row * a.depth + begin) * 4, a.q + row * a.stride + begin
        x, q = carray(float32_pointer(x_at), depth), carray(uint8_pointer(q_at), depth)
        low, high = found_range(a, row)
        scale, factor, zero_point, lowest = np.float32(1), np.float32(0), np.float32(0), -128.0
        if a.symmetric != 0:
            greatest = max(-low, high)
            lowest = -127.0
            if greatest > 0:
                scale = greatest / np.float32(127)
                factor = np.float32(127) / greatest
        elif low != high:
            step = np.float64(np.float32(high - low)) / 255.0
            scale = np.float32(step)
            zero_point = np.float32(zero_point_of(np.float64(low), np.float64(high), step))
            factor = np.float32(1) / scale
        done = 0
        if max(-low, high) * factor <= FARTHEST:
            whole = depth // 16 * 16
            point = np.int64(zero_point)
            if _quantize(x_at, whole, q_at, factor, point, np.int64(lowest)):
                done = whole
        for k in range(done, depth):
            value = round_half_away(x[k] * factor) + np.float64(zero_point)
            q[k] = np.uint8(np.int64(min(max(value, lowest), 127.0)) + 128)
        if part == 0:
            note_quantization(a, row, np.int32(zero_point) + np.int32(128), scale)
    return 0
