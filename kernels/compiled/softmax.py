"""SOFTMAX and LOG_SOFTMAX: rows of float32, of bytes by tables of exponentials, of int16 by interpolation."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import carray, njit

from ..softmax import (
    LOG_SOFTMAX_Q8,
    LOG_SOFTMAX_Q8_REFERENCE,
    SOFTMAX_F32,
    SOFTMAX_I16,
    SOFTMAX_Q8,
    SOFTMAX_Q8_REFERENCE,
    SOFTMAX_ROWS,
    SOFTMAX_SCRATCH,
    SUM_INTEGER_BITS,
)
from .driver.kernel_source import KernelSources
from .fixed_point import divide_by_power, high_multiply, leading_zeros, log_of, reciprocal_of_one_plus
from .language.elements import (
    read_back_i16,
    read_f32,
    read_i8,
    read_i16,
    read_i32,
    read_u8,
    write_f32,
    write_i8,
    write_i16,
    write_u8,
)
from .language.memory import float32_pointer, int64_pointer
from .language.scalar_math import log_f32
from .language.target import target
from .lookup import lookup_row
from .requantize import multiply_by_quantized_multiplier
from .row_reduction import (
    EXTREMUM_ROWS,
    any_exponentials_row_f32,
    exponentials_row_f32,
    max_row_f32,
    shares_row_f32,
)
from .table_sums import BELOW_HALF, table_results, table_sums

kernels = KernelSources()

_LONGEST_SHORT_ROW = 1024  # elements


@kernels.add(SOFTMAX_F32)
def softmax_f32(a, chunk, chunks):
    """Rows are divided by their sums as XNNPACK does it, which computes without subnormal numbers.

    A short row is divided some rows later: a load of what was stored just now waits for it.
    """
    depth, nbytes = a.depth, a.depth * 4
    row, last = a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks
    before = 3 if depth <= _LONGEST_SHORT_ROW else 0
    first = second = third = np.float32(0)
    for turn in range(row, last + before):
        share = np.float32(0)
        if turn < last:
            x, y = a.x + turn * nbytes, a.y + turn * nbytes
            largest = max_row_f32(x, depth)
            if a.beta >= 0:
                total = exponentials_row_f32(x, y, depth, largest, a.beta)
            else:
                total = any_exponentials_row_f32(x, y, depth, largest, a.beta)
            share = np.float32(1) / total
        if before == 0:
            third = share
        if turn >= row + before:
            shares_row_f32(a.y + (turn - before) * nbytes, depth, third)
        first, second, third = share, first, second
    return 0


@kernels.add(SOFTMAX_F32)
def log_softmax_f32(a, chunk, chunks):
    depth = a.depth
    scratch = a.scratch + chunk * depth * 4
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        x, y = a.x + row * depth * 4, a.y + row * depth * 4
        largest = max_row_f32(x, depth)
        log_sum = log_f32(exponentials_row_f32(x, scratch, depth, largest, np.float32(1)))
        for c in range(depth):
            write_f32(y, c, (read_f32(x, c) - largest) - log_sum)
    return 0


def _largest(read: Any) -> Callable:
    @njit(error_model="numpy")
    def largest(x, start, depth):
        best = np.int32(-128)
        for c in range(depth):
            value = np.int32(read(x, start + c))
            best = value if value > best else best
        return np.int64(best)

    return largest


def _softmax(read: Any, write: Any, highest: int) -> Callable:
    """In float32, summed in order: what LiteRT computes by default."""
    largest_of = _largest(read)

    def kernel(a, chunk, chunks):
        x, y, depth = a.x, a.y, a.depth
        zero = np.int64(a.zero)
        for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
            start = row * depth
            table = a.exponentials + (255 - largest_of(x, start, depth)) * 4
            total = np.float32(0)
            for c in range(depth):
                total += read_f32(table, np.int64(read(x, start + c)))
            share = np.float32(1) / (total * a.y_scale)
            for c in range(depth):
                real = read_f32(table, np.int64(read(x, start + c))) * share
                whole = np.int64(np.int32(np.float64(real) + 0.5)) + zero
                write(y, start + c, min(whole, np.int64(highest)))
        return 0

    return kernel


@njit(error_model="numpy")
def _sum_exponentials(read, x, table, depth):
    total = np.float32(0)
    for c in range(depth):
        total += read_f32(table, np.int64(read(x, c)))
    return total


@njit(error_model="numpy")
def _add_exponentials(read, x, tables, totals, depth):
    """The same of rows with a table each, side by side: an addition waits for the one before."""
    x0, x1, x2, x3 = x, x + depth, x + 2 * depth, x + 3 * depth
    x4, x5, x6, x7 = x + 4 * depth, x + 5 * depth, x + 6 * depth, x + 7 * depth
    t0, t1, t2, t3 = tables[0], tables[1], tables[2], tables[3]
    t4, t5, t6, t7 = tables[4], tables[5], tables[6], tables[7]
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = np.float32(0)
    for c in range(depth):
        s0 += read_f32(t0, np.int64(read(x0, c)))
        s1 += read_f32(t1, np.int64(read(x1, c)))
        s2 += read_f32(t2, np.int64(read(x2, c)))
        s3 += read_f32(t3, np.int64(read(x3, c)))
        s4 += read_f32(t4, np.int64(read(x4, c)))
        s5 += read_f32(t5, np.int64(read(x5, c)))
        s6 += read_f32(t6, np.int64(read(x6, c)))
        s7 += read_f32(t7, np.int64(read(x7, c)))
    totals[0], totals[1], totals[2], totals[3] = s0, s1, s2, s3
    totals[4], totals[5], totals[6], totals[7] = s4, s5, s6, s7


# Rows whose sums are added up side by side.
SIDE_BY_SIDE = 16 if target().vbmi else 8

if target().vbmi:

    @njit(error_model="numpy")
    def _sum_rows(read, a, x, count, tables, totals, sums, offsets):
        """The sums of some of `count` rows; returns of how many."""
        if count < 5:
            totals[0] = _sum_exponentials(read, x, tables[0], a.depth)
            return 1
        table_sums(x, a.depth, count, a.depth, offsets, a.planes, sums)
        return count

else:

    @njit(error_model="numpy")
    def _sum_rows(read, a, x, count, tables, totals, sums, offsets):
        if count < SIDE_BY_SIDE:
            totals[0] = _sum_exponentials(read, x, tables[0], a.depth)
            return 1
        _add_exponentials(read, x, tables, totals, a.depth)
        return count


def _result_table(suffix: str, write: Any, highest: int) -> Callable:
    """A function that fills `results` [256] for the bytes of a row x, whose table begins for the byte 0."""
    upper = -128 if suffix == "i8" else 128  # the value of the byte 128

    @njit(error_model="numpy")
    def all_results(results, table, exponentials, share, zero, x, depth):
        table_results(results, table, table + upper * 4, share, zero, np.int32(highest))

    smallest_of = EXTREMUM_ROWS[f"min_{suffix}"]

    @njit(error_model="numpy")
    def fill(results, table, share, zero, first, end):
        """The results of the values from first to before end; of -1 at results - 1."""
        for value in range(first, end):
            real = read_f32(table, value) * share
            write(results, value, min(np.int32(np.int32(real + BELOW_HALF) + zero), np.int32(highest)))

    @njit(error_model="numpy")
    def results_between(results, table, exponentials, share, zero, x, depth):
        first = np.int64(smallest_of(x, depth))
        end = 256 - (table - exponentials) // 4
        fill(results + 256, table, share, zero, first, min(end, 0))
        fill(results, table, share, zero, max(first, 0), end)

    return all_results if target().vbmi else results_between


def _softmax_of_bytes(suffix: str, read: Any, write: Any, highest: int) -> Callable:
    """The same to bytes: a row's results are looked up in a table of its own."""
    largest_of, fill = EXTREMUM_ROWS[f"max_{suffix}"], _result_table(suffix, write, highest)

    def kernel(a, chunk, chunks):
        depth = a.depth
        results = a.scratch + chunk * SOFTMAX_SCRATCH
        offsets = results + 256
        tables = carray(int64_pointer(offsets + SOFTMAX_ROWS), SOFTMAX_ROWS)
        sums = offsets + 9 * SOFTMAX_ROWS
        totals = carray(float32_pointer(sums), SOFTMAX_ROWS)
        row, last = a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks
        while row < last:
            x, y, count = a.x + row * depth, a.y + row * depth, min(SIDE_BY_SIDE, last - row)
            for k in range(count):
                distance = 255 - np.int64(largest_of(x + k * depth, depth))
                write_u8(offsets, k, np.uint8(distance & 255))
                tables[k] = a.exponentials + distance * 4
            count = _sum_rows(read, a, x, count, tables, totals, sums, offsets)
            for k in range(count):
                at = k * depth
                share = np.float32(1) / (totals[k] * a.y_scale)
                fill(results, tables[k], a.exponentials, share, a.zero, x + at, depth)
                lookup_row(x + at, y + at, results, depth)
            row += count
        return 0

    return kernel


def _log_softmax(read: Any, write: Any, lowest: int) -> Callable:
    largest_of = _largest(read)

    def kernel(a, chunk, chunks):
        x, y, depth = a.x, a.y, a.depth
        low, high = np.int32(lowest), np.int32(lowest + 255)
        zero = np.int32(a.zero)
        for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
            start = row * depth
            largest = largest_of(x, start, depth)
            table = a.exponentials + (255 - largest) * 4
            total = np.float32(0)
            for c in range(depth):
                total += read_f32(table, np.int64(read(x, start + c)))
            log_sum = log_f32(total)
            offset = (a.x_scale * np.float32(largest) + log_sum) / a.y_scale
            scale = a.x_scale / a.y_scale
            for c in range(depth):
                real = np.float32(read(x, start + c)) * scale - offset
                whole = np.int32(np.int32(np.rint(real)) + zero)
                if whole < low:
                    whole = low
                write(y, start + c, high if whole > high else whole)
        return 0

    return kernel


def _log_softmax_reference(read: Any, write: Any, lowest: int) -> Callable:
    """In fixed point with 5 integer bits, as TFLite's reference kernels compute it."""
    largest_of = _largest(read)

    def kernel(a, chunk, chunks):
        x, y, depth = a.x, a.y, a.depth
        highest = np.int64(lowest + 255)
        for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
            start = row * depth
            largest = largest_of(x, start, depth)
            total = np.int64(0)
            for c in range(depth):
                total += np.int64(read_i32(a.terms, largest - np.int64(read(x, start + c))))
            log_sum = log_of(np.int32(total), SUM_INTEGER_BITS)
            # How far from the largest a result still has the integer bits.
            least = multiply_by_quantized_multiplier(
                np.int32(log_sum - (np.int64(1) << 31)), a.reverse_multiplier, a.reverse_shift
            )
            furthest = min(np.int64(a.furthest), -np.int64(least) - 1)
            for c in range(depth):
                distance = largest - np.int64(read(x, start + c))
                whole = np.int64(lowest)
                if distance <= furthest:
                    steps = divide_by_power(np.int64(read_i32(a.differences, distance)) - log_sum, 22)
                    whole = min(max(steps + highest, np.int64(lowest)), highest)
                write(y, start + c, np.int32(whole))
        return 0

    return kernel


def _softmax_reference(read: Any, write: Any, bits: int, lowest: int) -> Callable:
    """In fixed point, as TFLite's reference kernels compute it."""
    largest_of = _largest(read)

    def kernel(a, chunk, chunks):
        x, y, depth = a.x, a.y, a.depth
        for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
            start = row * depth
            largest = largest_of(x, start, depth)
            total = np.int64(0)
            for c in range(depth):
                total += np.int64(read_i32(a.terms, largest - np.int64(read(x, start + c))))
            zeros = leading_zeros(total)
            share = reciprocal_of_one_plus((total << zeros) - (np.int64(1) << 31))
            shift = SUM_INTEGER_BITS - zeros + 31 - bits
            for c in range(depth):
                value = read_i32(a.exponentials, largest - np.int64(read(x, start + c)))
                scaled = divide_by_power(high_multiply(share, value), shift)
                write(y, start + c, np.int32(min(scaled, np.int64((1 << bits) - 1)) + lowest))
        return 0

    return kernel


for _suffix, _read, _write, _lowest in (("i8", read_i8, write_i8, -128), ("u8", read_u8, write_u8, 0)):
    kernels.add(LOG_SOFTMAX_Q8, f"log_softmax_{_suffix}")(_log_softmax(_read, _write, _lowest))
    kernels.add(LOG_SOFTMAX_Q8_REFERENCE, f"log_softmax_reference_{_suffix}")(
        _log_softmax_reference(_read, _write, _lowest)
    )
    for _kinds, _to, _bits, _least in (
        (_suffix, _write, 8, _lowest),
        (f"{_suffix}_i16", write_i16, 16, -32768),
    ):
        _highest = _least + (1 << _bits) - 1
        _default = _softmax(_read, _to, _highest)
        if _bits == 8:
            _default = _softmax_of_bytes(_suffix, _read, _to, _highest)
        kernels.add(SOFTMAX_Q8, f"softmax_{_kinds}")(_default)
        kernels.add(SOFTMAX_Q8_REFERENCE, f"softmax_reference_{_kinds}")(
            _softmax_reference(_read, _to, _bits, _least)
        )


_LOWEST = np.int64(-32768)
_HIGHEST = np.int64(32767)


@njit(error_model="numpy")
def _clamped(x):
    return min(max(np.int64(x), _LOWEST), _HIGHEST)


@njit(error_model="numpy")
def _interpolated(table, position):
    """The table's value at a position in -32768 .. 32767."""
    index, offset = 256 + (position >> 7), position & 0x7F
    base = np.int64(read_i16(table, index))
    slope = np.int64(read_i16(table, index + 1)) - base
    return base + ((slope * offset + 64) >> 7)


@kernels.add(SOFTMAX_I16)
def softmax_i16(a, chunk, chunks):
    depth, exponentials = a.depth, a.scratch + chunk * a.depth * 2
    for row in range(a.rows * chunk // chunks, a.rows * (chunk + 1) // chunks):
        x, y = a.x + row * depth * 2, a.y + row * depth * 2
        largest = np.int32(-32768)
        for c in range(depth):
            largest = max(largest, np.int32(read_i16(x, c)))
        total = np.int64(0)
        for c in range(depth):
            difference = np.int32(np.int32(read_i16(x, c)) - largest)
            scaled = multiply_by_quantized_multiplier(difference, a.multiplier, a.shift)
            value = _interpolated(a.exponentials, _clamped(np.int64(scaled) + 32767))
            write_i16(exponentials, c, np.int16(value))
            total += value
        zeros = leading_zeros(total)
        shifted = ((total << (zeros - 1)) + (1 << 13)) >> 14
        share = _interpolated(a.reciprocals, _clamped(shifted - (1 << 15) - (1 << 16)))
        right = 31 - zeros
        for c in range(depth):
            value = np.int64(read_back_i16(exponentials, c)) * share + (np.int64(1) << (right - 1))
            write_i16(y, c, np.int16(min(max(value >> right, np.int64(0)), _HIGHEST)))
    return 0
