"""Reductions: of float32, of plain integers, of stored values, and sums of quantized integers."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ..reduce import REDUCE, REDUCE_Q8, REDUCE_Q8_REFERENCE
from .driver.kernel_source import KernelSources
from .language.element_types import F32, I8, I16, I32, I64, U8, ElementType
from .pool_window import EXTREMUM_WINDOWS, mean_window_f32, sum_window_i8, sum_window_i16, sum_window_u8
from .reduction import Accumulator, across_kernel, along_kernel, window_kernel
from .requantize import requantize_double_rounding
from .row_reduction import EXTREMUM_ROWS, sum_row_f32, total_i8, total_u8

kernels = KernelSources()

_function = njit(error_model="numpy")


@_function
def _add(x, y):
    return x + y


@_function
def _multiply(x, y):
    return x * y


@_function
def _maximum(x, y):
    return x if x > y else y


@_function
def _minimum(x, y):
    return x if x < y else y


@_function
def _greater(total, x):
    return x if x > total else total


@_function
def _less(total, x):
    return x if x < total else total


@_function
def _itself(total, p):
    return total


@_function
def _nothing(block):
    return 0


def _accumulator(type_: ElementType, zero: Any, combine: Callable) -> Accumulator:
    """Elements combined in a type, which wraps."""
    width = type_.width

    @_function
    def widen(x):
        return width(x)

    @_function
    def combined(x, y):
        return width(combine(x, y))

    return Accumulator(width(zero), widen, combined, type_.read_back, type_.write, type_.bytes)


def _add_loops(
    block: np.dtype,
    name: str,
    type_: ElementType,
    accumulator: Accumulator,
    parameters: Callable,
    finish: Callable,
    row: Any = None,
) -> None:
    """Kernels along the inner axes and across them."""
    along = along_kernel(type_, accumulator, parameters, finish, row)
    kernels.add(block, f"{name}_along_{type_.name}")(along)
    kernels.add(block, f"{name}_across_{type_.name}")(across_kernel(type_, accumulator, parameters, finish))


def _extremum_window(name: str, itemsize: int) -> Callable:
    window = EXTREMUM_WINDOWS[name]

    @_function
    def reduce(block, x, at, total, depth, rows, columns, row_bytes, pixel_bytes):
        window(x, block.y + at * itemsize, depth, rows, columns, row_bytes, pixel_bytes)

    return window_kernel(itemsize, reduce)


# --- float32
@_function
def _scale(block):
    return block.scale


@_function
def _scaled(total, scale):
    return total * scale


@_function
def _window_mean(block, x, at, total, depth, rows, columns, row_bytes, pixel_bytes):
    mean_window_f32(x, block.y + at * 4, depth, rows, columns, row_bytes, pixel_bytes, block.scale)


for _name, _zero, _combine, _finish, _row in (
    ("mean", 0, _add, _scaled, sum_row_f32),
    ("sum", 0, _add, _itself, sum_row_f32),
    ("prod", 1, _multiply, _itself, None),
    ("max", -np.inf, _maximum, _itself, EXTREMUM_ROWS["max_f32"]),
    ("min", np.inf, _minimum, _itself, EXTREMUM_ROWS["min_f32"]),
):
    _add_loops(REDUCE, _name, F32, _accumulator(F32, _zero, _combine), _scale, _finish, _row)
# LiteRT's reference begins with the least finite number, and passes over NaN.
_MOST = float(np.finfo(np.float32).max)
for _name, _finite in (
    ("max", _accumulator(F32, -_MOST, _greater)),
    ("min", _accumulator(F32, _MOST, _less)),
):
    _add_loops(REDUCE, f"reference_{_name}", F32, _finite, _scale, _itself)
# SUM is a mean whose scale is 1.
for _name in ("mean", "sum"):
    kernels.add(REDUCE, f"{_name}_window_f32")(window_kernel(4, _window_mean))
for _name in ("max", "min"):
    kernels.add(REDUCE, f"{_name}_window_f32")(_extremum_window(f"{_name}_f32", 4))


# --- integers without quantization
@_function
def _elements(block):
    return block.count


@_function
def _mean(total, count):
    """Truncated towards zero; 0 of no elements."""
    # Without a sign, which has room for the least total's magnitude, and one division for each.
    magnitude = np.int64(np.uint64(-total if total < 0 else total) // np.uint64(max(count, 1)))
    return -magnitude if total < 0 else magnitude


def _narrowed(finish, width):
    @_function
    def narrowed(total, count):
        return width(finish(total, count))

    return narrowed


for _type in (I32, I64):
    for _name, _zero, _combine, _finish in (
        ("mean", 0, _add, _mean),
        ("sum", 0, _add, _itself),
        ("prod", 1, _multiply, _itself),
        ("max", _type.lowest, _maximum, _itself),
        ("min", _type.highest, _minimum, _itself),
    ):
        _wide, _narrow = _accumulator(I64, _zero, _combine), _narrowed(_finish, _type.width)
        _add_loops(REDUCE, _name, _type, _wide, _elements, _narrow)


# --- the largest and smallest stored values of quantized and boolean tensors
for _type in (I8, U8, I16):
    for _name, _zero, _combine in (("max", _type.lowest, _maximum), ("min", _type.highest, _minimum)):
        _kinds = f"{_name}_{_type.name}"
        _wide, _row = _accumulator(I32, _zero, _combine), EXTREMUM_ROWS[_kinds]
        _add_loops(REDUCE, _name, _type, _wide, _nothing, _itself, _row)
        kernels.add(REDUCE, f"{_name}_window_{_type.name}")(_extremum_window(_kinds, _type.bytes))


# --- MEAN and SUM of quantized integers
@_function
def _affine(block):
    return block.scale, block.offset


def _rounded(type_: ElementType) -> Callable:
    """As LiteRT's default (XNNPACK) has it."""
    low, high = np.float32(type_.lowest), np.float32(type_.highest)

    @_function
    def finish(total, p):
        scaled = np.float32(total) * p[0] + p[1]
        scaled = low if scaled < low else scaled
        scaled = high if scaled > high else scaled
        return np.int32(np.rint(scaled))

    return finish


@_function
def _rounded_away(total, p):
    """As LiteRT's default has sums of int16."""
    scaled = np.float32(total) * p[0] + p[1]
    steps = min(np.floor(abs(np.float64(scaled)) + 0.5), 32768.0)
    return np.int32(min(math.copysign(steps, scaled), 32767.0))


@_function
def _fixed(block):
    return block.bias, block.multiplier, block.shift, block.zero


def _requantized(type_: ElementType) -> Callable:
    """As TFLite's reference kernels have it."""
    lowest, highest = type_.lowest, type_.highest

    @_function
    def finish(total, p):
        bias, multiplier, shift, zero = p
        return requantize_double_rounding(np.int32(total - bias), multiplier, shift, zero, lowest, highest)

    return finish


def _sum_window(type_: ElementType, sum_window: Any, parameters: Callable, finish: Callable) -> Callable:
    write, read_back = type_.write, I32.read_back

    @_function
    def reduce(block, x, at, total, depth, rows, columns, row_bytes, pixel_bytes):
        sum_window(x, total, depth, rows, columns, row_bytes, pixel_bytes)
        y, p = block.y, parameters(block)
        for c in range(depth):
            write(y, at + c, finish(read_back(total, c), p))

    return window_kernel(type_.bytes, reduce)


for _type, _window, _total in (
    (I8, sum_window_i8, total_i8),
    (U8, sum_window_u8, total_u8),
    (I16, sum_window_i16, None),
):
    for _name, _block, _parameters, _result, _row in (
        ("sum", REDUCE_Q8, _affine, _rounded(_type), _total),
        ("sum_away", REDUCE_Q8, _affine, _rounded_away, None),
        ("sum_reference", REDUCE_Q8_REFERENCE, _fixed, _requantized(_type), None),
    ):
        if _name == ("sum" if _type is I16 else "sum_away"):
            continue
        _add_loops(_block, _name, _type, _accumulator(I32, 0, _add), _parameters, _result, _row)
        _windowed = _sum_window(_type, _window, _parameters, _result)
        kernels.add(_block, f"{_name}_window_{_type.name}")(_windowed)
