"""Where the best elements of rows are."""

import triton
import triton.language as tl


@triton.jit
def best(
    x_ptr, y_ptr, size, count, inner,
    LEAST: tl.constexpr, FLOAT: tl.constexpr, ALONG: tl.constexpr, RESULTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The first place of the largest of x [outer, count, inner] along the middle, or LEAST of the smallest.

    NaNs are passed over, where there are others.
    """
    i = tl.program_id(0) * RESULTS + tl.arange(0, RESULTS)
    first = i * count if ALONG else i // inner * (count * inner) + i % inner
    TYPE: tl.constexpr = tl.float32 if FLOAT else tl.int32
    found = tl.zeros((RESULTS, BLOCK), TYPE) + (float("-inf") if FLOAT else -2147483648)
    NOWHERE: tl.constexpr = 2147483647
    place = tl.full((RESULTS, BLOCK), NOWHERE, tl.int32)
    for begin in range(0, count, BLOCK):
        k = begin + tl.arange(0, BLOCK)
        ok = (i < size)[:, None] & (k < count)[None, :]
        at = first[:, None] + (k if ALONG else k * inner)[None, :]
        x = tl.load(x_ptr + at, ok, 0).to(TYPE)
        if LEAST:
            x = -x if FLOAT else ~x
        better = ok & ((x > found) | ((place == NOWHERE) & (x == x)))
        found = tl.where(better, x, found)
        place = tl.where(better, k[None, :], place)
    top = tl.max(found, 1)[:, None]
    y = tl.min(tl.where(found == top, place, NOWHERE), 1)
    tl.store(y_ptr + i, tl.where(y == NOWHERE, 0, y).to(y_ptr.dtype.element_ty), i < size)


@triton.jit
def _key(x, FLOAT: tl.constexpr):
    """An int32 in the order of the elements, NaNs the lowest; equal ones have one key."""
    if FLOAT:
        wide = x.to(tl.float32) + 0.0
        bits = wide.to(tl.int32, bitcast=True)
        return tl.where(wide == wide, tl.where(bits < 0, bits ^ 0x7FFFFFFF, bits), -2147483648)
    else:
        return x.to(tl.int32)


@triton.jit
def largest(x_ptr, value_ptr, place_ptr, count, wanted, FLOAT: tl.constexpr, BLOCK: tl.constexpr):
    """The row's largest elements in order, equal ones by place; each is the largest below the one before."""
    row = tl.program_id(0)
    last = tl.full((1,), 9223372036854775807, tl.int64)
    for n in range(wanted):
        found = tl.full((BLOCK,), -9223372036854775808, tl.int64)
        for begin in range(0, count, BLOCK):
            k = begin + tl.arange(0, BLOCK)
            x = tl.load(x_ptr + row * count + k, k < count, 0)
            # Unlike for two elements: the key, then how far the place is from the end.
            rank = (_key(x, FLOAT).to(tl.int64) << 32) + (2147483647 - k)
            found = tl.where((k < count) & (rank < last) & (rank > found), rank, found)
        last = tl.max(found, 0) + tl.zeros((1,), tl.int64)
        place = 2147483647 - (last & 0xFFFFFFFF).to(tl.int32)
        at = row * wanted + n + tl.arange(0, 1)
        tl.store(value_ptr + at, tl.load(x_ptr + row * count + place))
        tl.store(place_ptr + at, place.to(place_ptr.dtype.element_ty))
