"""Rows divided by a measure of their size."""

import triton
import triton.language as tl

from .mathematics import power
from .requantize import clamp, multiply


@triton.jit
def l2(x_ptr, y_ptr, rows, depth, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    squares = tl.zeros((ROWS, BLOCK), tl.float32)
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        x = tl.load(x_ptr + row * depth + c, (row < rows) & (c < depth), 0).to(tl.float32)
        squares += x * x
    norm = tl.sqrt_rn(tl.sum(squares, 1))[:, None]
    norm = tl.where(norm < 1e-6, 1e-6, norm)
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        ok = (row < rows) & (c < depth)
        x = tl.load(x_ptr + row * depth + c, ok, 0).to(tl.float32)
        tl.store(y_ptr + row * depth + c, (x / norm).to(y_ptr.dtype.element_ty), ok)


@triton.jit
def _high_multiply(a, b):
    return (a * b + (1 << 30)) >> 31


@triton.jit
def _times_power_of_two(x, bits: tl.constexpr):
    return clamp(x << bits, -2147483648, 2147483647)


@triton.jit
def _inverse_square_root(x):
    """(multiplier, right) with 1 / sqrt(x) = multiplier * 2**(-right - 31), of int64 up to 2**31 - 1."""
    right = x * 0 + 11
    v = tl.maximum(x, 2)
    for _ in tl.static_range(2):
        right += tl.where(v >= 1 << 29, 1, 0)
        v = tl.where(v >= 1 << 29, v >> 2, v)
    for _ in tl.static_range(14):
        small = v < 1 << 27
        right -= tl.where(small, 1, 0)
        v = tl.where(small, v << 2, v)
    half = ((v >> 1) + 1) >> 1
    root = x * 0 + (1 << 28)
    for _ in tl.static_range(5):
        cube = _times_power_of_two(_high_multiply(_high_multiply(root, root), root), 6)
        root = _times_power_of_two(_high_multiply(root, x * 0 + 402653184) - _high_multiply(half, cube), 3)
    root = _high_multiply(root, x * 0 + 1518500250)
    root = tl.where(right < 0, root << tl.maximum(-right, 0), root)
    right = tl.maximum(right, 0)
    return tl.where(x <= 1, 2147483647, root), tl.where(x <= 1, 0, right)


@triton.jit
def l2_quantized(
    x_ptr, y_ptr, rows, depth, x_zero, low, high, zero, factor, bits,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Results have 7 bits after the point: offsets times the factor, shifted left by bits."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    squares = tl.zeros((ROWS, BLOCK), tl.int64)
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        ok = (row < rows) & (c < depth)
        offset = tl.where(ok, tl.load(x_ptr + row * depth + c, ok, 0).to(tl.int32) - x_zero, 0)
        squares += (offset * offset).to(tl.int64)
    total = tl.minimum(tl.sum(squares, 1), 2147483647)[:, None]
    multiplier, right = _inverse_square_root(total)
    shift = (bits - right).to(tl.int32)
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        ok = (row < rows) & (c < depth)
        offset = factor * (tl.load(x_ptr + row * depth + c, ok, 0).to(tl.int32) - x_zero)
        y = multiply(offset, multiplier, shift, True, True) + zero
        tl.store(y_ptr + row * depth + c, clamp(y, low, high).to(y_ptr.dtype.element_ty), ok)


@triton.jit
def local_response(
    x_ptr, y_ptr, rows, depth, before, after, bias, alpha, beta, ROWS: tl.constexpr, BLOCK: tl.constexpr
):
    """x * (bias + alpha * the sum of squares from `before` channels before to `after` after) ** -beta."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        ok = (row < rows) & (c < depth)
        squares = tl.zeros((ROWS, BLOCK), tl.float32)
        for step in range(-before, after + 1):
            k = c + step
            x = tl.load(x_ptr + row * depth + k, ok & (k >= 0) & (k < depth), 0).to(tl.float32)
            squares += x * x
        x = tl.load(x_ptr + row * depth + c, ok, 0).to(tl.float32)
        y = x * power(bias + alpha * squares, tl.zeros((ROWS, BLOCK), tl.float32) - beta)
        tl.store(y_ptr + row * depth + c, y.to(y_ptr.dtype.element_ty), ok)
