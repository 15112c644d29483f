"""Reductions: a tile of results by a tile of what each is made of, walked along the latter."""

import triton
import triton.language as tl

from .broadcast import offsets
from .mathematics import exact_product
from .requantize import clamp, requantize_one, round_half_even


@triton.jit
def _product(x, y):
    return x * y


@triton.jit
def _largest(x, y):
    return tl.where(x > y, x, y)


@triton.jit
def _smallest(x, y):
    return tl.where(x < y, x, y)


@triton.jit
def gathered(
    x_ptr, size, count, kn1, kn2, kn3, k0, k1, k2, k3, rn1, rn2, rn3, r0, r1, r2, r3, start,
    KIND: tl.constexpr, TYPE: tl.constexpr, ALONG: tl.constexpr, KEPT_RANK: tl.constexpr, RANK: tl.constexpr,
    RESULTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """count elements combined for each of RESULTS results, from `start` on, in TYPE.

    Neighbours in memory are those of one result where ALONG, and else of neighbouring ones.
    """
    DTYPE: tl.constexpr = tl.float32 if TYPE == "fp32" else tl.int64 if TYPE == "i64" else tl.int32
    i = tl.program_id(0) * RESULTS + tl.arange(0, RESULTS)
    first = offsets(i, kn1, kn2, kn3, k0, k1, k2, k3 if ALONG else 1, KEPT_RANK)
    initial = tl.zeros((RESULTS, BLOCK), DTYPE) + start
    total = initial
    for begin in range(0, count, BLOCK):
        k = begin + tl.arange(0, BLOCK)
        at = first[:, None] + offsets(k, rn1, rn2, rn3, r0, r1, r2, 1 if ALONG else r3, RANK)[None, :]
        ok = (i < size)[:, None] & (k < count)[None, :]
        value = tl.where(ok, tl.load(x_ptr + at, ok, 0).to(DTYPE), initial)
        if KIND == "max":
            total = _largest(value, total)
        elif KIND == "min":
            total = _smallest(value, total)
        elif KIND == "prod":
            total = total * value
        else:
            total = total + value
    if KIND == "max":
        return tl.reduce(total, 1, _largest)
    elif KIND == "min":
        return tl.reduce(total, 1, _smallest)
    elif KIND == "prod":
        return tl.reduce(total, 1, _product)
    else:
        return tl.sum(total, 1)


@triton.jit
def reduce(
    x_ptr, y_ptr, size, count, kn1, kn2, kn3, k0, k1, k2, k3, rn1, rn2, rn3, r0, r1, r2, r3, start, scale,
    KIND: tl.constexpr, TYPE: tl.constexpr, ALONG: tl.constexpr,
    KEPT_RANK: tl.constexpr, RANK: tl.constexpr, RESULTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """KIND is sum, mean, prod, max or min; means of integers are cut towards zero."""
    y = gathered(
        x_ptr, size, count, kn1, kn2, kn3, k0, k1, k2, k3, rn1, rn2, rn3, r0, r1, r2, r3, start,
        KIND, TYPE, ALONG, KEPT_RANK, RANK, RESULTS, BLOCK,
    )  # fmt: skip
    if KIND == "mean":
        if TYPE == "fp32":
            y = y * scale
        else:
            magnitude = tl.abs(y) // tl.maximum(count, 1)
            y = tl.where(y < 0, -magnitude, magnitude)
    i = tl.program_id(0) * RESULTS + tl.arange(0, RESULTS)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), i < size)


@triton.jit
def sum_q8(
    x_ptr, y_ptr, size, count, kn1, kn2, kn3, k0, k1, k2, k3, rn1, rn2, rn3, r0, r1, r2, r3, start,
    scale, offset, low, high,
    ALONG: tl.constexpr, KEPT_RANK: tl.constexpr, RANK: tl.constexpr,
    RESULTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """round(clamp(sum * scale + offset))."""
    total = gathered(
        x_ptr, size, count, kn1, kn2, kn3, k0, k1, k2, k3, rn1, rn2, rn3, r0, r1, r2, r3, start,
        "sum", "i32", ALONG, KEPT_RANK, RANK, RESULTS, BLOCK,
    )  # fmt: skip
    real = exact_product(total.to(tl.float32), scale) + offset
    y = round_half_even(clamp(real, low.to(tl.float32), high.to(tl.float32)))
    i = tl.program_id(0) * RESULTS + tl.arange(0, RESULTS)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), i < size)


@triton.jit
def sum_q8_reference(
    x_ptr, y_ptr, size, count, kn1, kn2, kn3, k0, k1, k2, k3, rn1, rn2, rn3, r0, r1, r2, r3, start,
    bias, multiplier, shift, zero, low, high,
    ALONG: tl.constexpr, KEPT_RANK: tl.constexpr, RANK: tl.constexpr,
    RESULTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The sum less the bias, requantized in fixed point."""
    total = gathered(
        x_ptr, size, count, kn1, kn2, kn3, k0, k1, k2, k3, rn1, rn2, rn3, r0, r1, r2, r3, start,
        "sum", "i32", ALONG, KEPT_RANK, RANK, RESULTS, BLOCK,
    )  # fmt: skip
    y = requantize_one(total - bias, multiplier, shift, zero, low, high)
    i = tl.program_id(0) * RESULTS + tl.arange(0, RESULTS)
    tl.store(y_ptr + i, y.to(y_ptr.dtype.element_ty), i < size)


@triton.jit
def running_sums(
    x_ptr, y_ptr, lines, count, inner,
    FLOAT: tl.constexpr, EXCLUSIVE: tl.constexpr, REVERSE: tl.constexpr,
    LINES: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Along the middle of x [outer, count, inner]; EXCLUSIVE leaves the element itself out."""
    i = tl.program_id(0) * LINES + tl.arange(0, LINES)
    first = (i // inner * (count * inner) + i % inner)[:, None]
    TYPE: tl.constexpr = tl.float32 if FLOAT else x_ptr.dtype.element_ty
    total = tl.zeros((LINES, 1), TYPE)
    for begin in range(0, count, BLOCK):
        n = (begin + tl.arange(0, BLOCK))[None, :]
        ok = (i < lines)[:, None] & (n < count)
        source = n - 1 if EXCLUSIVE else n
        here = first + (count - 1 - source if REVERSE else source) * inner
        x = tl.load(x_ptr + here, ok & (source >= 0), 0).to(TYPE)
        y = total + tl.cumsum(x, 1).to(TYPE)
        target = first + (count - 1 - n if REVERSE else n) * inner
        tl.store(y_ptr + target, y.to(y_ptr.dtype.element_ty), ok)
        total += tl.sum(x, 1).to(TYPE)[:, None]
