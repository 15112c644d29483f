"""SOFTMAX and LOG_SOFTMAX over rows."""

import triton
import triton.language as tl

from .mathematics import exact_product, exponential, logarithm
from .requantize import clamp, multiply


@triton.jit
def _larger(x, y):
    return tl.where(x > y, x, y)


@triton.jit
def whole_rows(x_ptr, y_ptr, rows, depth, beta, LOG: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """Rows of up to BLOCK elements, read once."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, BLOCK)[None, :]
    ok = (row < rows)[:, None] & (c < depth)
    at = row[:, None] * depth + c
    x = tl.load(x_ptr + at, ok, float("-inf")).to(tl.float32)
    below = x - tl.reduce(x, 1, _larger)[:, None]
    e = tl.where(ok, exponential(below * beta), 0.0)
    total = tl.sum(e, 1)[:, None]
    y = below - logarithm(total) if LOG else e / total
    tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def softmax(x_ptr, y_ptr, rows, depth, beta, LOG: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    """ROWS rows at once, BLOCK elements at a time."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    start = row[:, None] * depth
    largest = tl.full((ROWS, BLOCK), float("-inf"), tl.float32)
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        ok = (row < rows)[:, None] & (c < depth)
        x = tl.load(x_ptr + start + c, ok, float("-inf")).to(tl.float32)
        largest = _larger(x, largest)
    top = tl.reduce(largest, 1, _larger)[:, None]
    total = tl.zeros((ROWS, BLOCK), tl.float32)
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        ok = (row < rows)[:, None] & (c < depth)
        x = tl.load(x_ptr + start + c, ok, 0).to(tl.float32)
        total += tl.where(ok, exponential((x - top) * beta), 0.0)
    whole = tl.sum(total, 1)[:, None]
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        ok = (row < rows)[:, None] & (c < depth)
        x = tl.load(x_ptr + start + c, ok, 0).to(tl.float32)
        y = (x - top) - logarithm(whole) if LOG else exponential((x - top) * beta) / whole
        tl.store(y_ptr + start + c, y.to(y_ptr.dtype.element_ty), ok)


@triton.jit
def _largest_of_bytes(x_ptr, start, ok, depth):
    best = tl.full(start.shape, -128, tl.int32)
    for c in range(depth):
        best = tl.maximum(best, tl.load(x_ptr + start + c, ok, -128).to(tl.int32))
    return best


@triton.jit
def softmax_q8(x_ptr, y_ptr, table_ptr, rows, depth, lowest, ROWS: tl.constexpr):
    """A thread for a row: exponentials are summed in order, as float32 sums depend on it."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    ok = row < rows
    start = row * depth
    table = table_ptr + (255 - _largest_of_bytes(x_ptr, start, ok, depth))
    total = tl.zeros((ROWS,), tl.float32)
    for c in range(depth):
        total += tl.load(table + tl.load(x_ptr + start + c, ok, 0).to(tl.int32), ok, 1)
    share = tl.div_rn(tl.full((ROWS,), 1.0, tl.float32), total * 0.00390625)
    for c in range(depth):
        e = tl.load(table + tl.load(x_ptr + start + c, ok, 0).to(tl.int32), ok, 1)
        real = exact_product(e, share)
        whole = (real.to(tl.float64) + 0.5).to(tl.int32) + lowest
        tl.store(y_ptr + start + c, tl.minimum(whole, lowest + 255).to(y_ptr.dtype.element_ty), ok)


@triton.jit
def _high_multiply(x, y):
    return (x * y + (1 << 30)) >> 31


@triton.jit
def _reciprocal_of_one_plus(a):
    """1 / (1 + a) for 0 <= a < 1 in fixed point of 31 bits: three steps of Newton's division."""
    highest = 2147483647
    half = (a + highest + 1) >> 1
    x = 1515870810 + _high_multiply(half, tl.full(half.shape, -1010580540, tl.int64))
    for _ in tl.static_range(3):
        missing = 536870912 - _high_multiply(half, x)
        step = _high_multiply(x, missing) << 2
        x += tl.minimum(tl.maximum(step, -highest - 1), highest)
    return tl.minimum(tl.maximum(x << 1, -highest - 1), highest)


@triton.jit
def softmax_q8_reference(x_ptr, y_ptr, exponential_ptr, term_ptr, rows, depth, lowest, ROWS: tl.constexpr):
    """In fixed point, a thread for a row."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    ok = row < rows
    start = row * depth
    largest = _largest_of_bytes(x_ptr, start, ok, depth)
    total = tl.zeros((ROWS,), tl.int64)
    for c in range(depth):
        below = largest - tl.load(x_ptr + start + c, ok, 0).to(tl.int32)
        total += tl.load(term_ptr + below, ok, 1).to(tl.int64)
    zeros = tl.zeros((ROWS,), tl.int64)
    for bit in tl.static_range(32):
        zeros += tl.where((total >> bit) == 0, 1, 0)
    share = _reciprocal_of_one_plus((total << zeros) - 2147483648)
    shift = 35 - zeros
    mask = (tl.full((ROWS,), 1, tl.int64) << shift) - 1
    for c in range(depth):
        below = largest - tl.load(x_ptr + start + c, ok, 0).to(tl.int32)
        scaled = _high_multiply(share, tl.load(exponential_ptr + below, ok, 0).to(tl.int64))
        rounded = (scaled >> shift) + tl.where((scaled & mask) > (mask >> 1), 1, 0)
        y = (tl.minimum(rounded, 255) + lowest).to(y_ptr.dtype.element_ty)
        tl.store(y_ptr + start + c, y, ok)


@triton.jit
def _between(table_ptr, position):
    """A table of 513 at a position in -32768 .. 32767, by straight lines."""
    at = table_ptr + 256 + (position >> 7)
    base = tl.load(at).to(tl.int32)
    return base + (((tl.load(at + 1).to(tl.int32) - base) * (position & 0x7F) + 64) >> 7)


@triton.jit
def _exponentials_i16(x_ptr, table_ptr, at, ok, largest, multiplier, shift):
    below = tl.where(ok, tl.load(x_ptr + at, ok, 0).to(tl.int32) - largest, 0)
    position = multiply(below, multiplier, shift, True, True).to(tl.int64) + 32767
    return _between(table_ptr, clamp(position, -32768, 32767).to(tl.int32))


@triton.jit
def softmax_i16(
    x_ptr, y_ptr, exponential_ptr, reciprocal_ptr, rows, depth, multiplier, shift,
    ROWS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    found = tl.full((ROWS, BLOCK), -32768, tl.int32)
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        ok = (row < rows) & (c < depth)
        found = tl.maximum(found, tl.load(x_ptr + row * depth + c, ok, -32768).to(tl.int32))
    largest = tl.max(found, 1)[:, None]
    sums = tl.zeros((ROWS, BLOCK), tl.int64)
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        ok = (row < rows) & (c < depth)
        e = _exponentials_i16(x_ptr, exponential_ptr, row * depth + c, ok, largest, multiplier, shift)
        sums += tl.where(ok, e, 0).to(tl.int64)
    total = tl.sum(sums, 1)[:, None]
    zeros = total * 0
    for bit in tl.static_range(32):
        zeros += tl.where((total >> bit) == 0, 1, 0)
    scaled = ((total << (zeros - 1)) + (1 << 13)) >> 14
    share = _between(reciprocal_ptr, clamp(scaled - 98304, -32768, 32767).to(tl.int32)).to(tl.int64)
    right = 31 - zeros
    half = (total * 0 + 1) << (right - 1)
    for begin in range(0, depth, BLOCK):
        c = begin + tl.arange(0, BLOCK)[None, :]
        ok = (row < rows) & (c < depth)
        at = row * depth + c
        # The CPU keeps them as int16.
        e = _exponentials_i16(x_ptr, exponential_ptr, at, ok, largest, multiplier, shift).to(tl.int16)
        y = clamp((e.to(tl.int64) * share + half) >> right, 0, 32767)
        tl.store(y_ptr + at, y.to(y_ptr.dtype.element_ty), ok)
