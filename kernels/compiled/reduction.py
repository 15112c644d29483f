"""Loop nests that reduce dimensions, shared by all reductions."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from numba import njit

from ..reduce import REDUCE_RANK
from .language.element_types import ElementType

_LAST = REDUCE_RANK - 1


class Accumulator(NamedTuple):
    """How elements are gathered: combine(accumulated, widen(element)), starting from zero."""

    zero: Any
    widen: Callable
    combine: Callable
    read: Any  # of the accumulator's type, reading back what was written
    write: Any
    nbytes: int


@njit(error_model="numpy")
def _offset(shape, strides, index):
    offset = 0
    d = _LAST
    while index > 0:  # divisions are slow, and most loops have one dimension
        if d == 0 or index < shape[d]:
            return offset + index * strides[d]
        offset += index % shape[d] * strides[d]
        index //= shape[d]
        d -= 1
    return offset


@njit(error_model="numpy")
def _count(shape):
    count = 1
    for d in range(REDUCE_RANK):
        count *= shape[d]
    return count


def across_kernel(
    type_: ElementType, accumulator: Accumulator, parameters: Callable, finish: Callable
) -> Callable:
    """y[kept, i] = finish(elements x[kept, :, i] combined, parameters(block)): i runs innermost.

    The kept rows are cut into chunks, or i where there is one row.
    """
    zero, widen, combine, read_back, keep, nbytes = accumulator
    read, write = type_.read, type_.write

    @njit(error_model="numpy")
    def gather(block, total, x_at, inner):
        x, shape, strides = block.x, block.reduced_shape, block.reduced_strides
        for i in range(inner):
            keep(total, i, zero)
        for row in range(_count(shape)):
            at = x_at + _offset(shape, strides, row)
            for i in range(inner):
                keep(total, i, combine(read_back(total, i), widen(read(x, at + i))))

    def kernel(block, chunk, chunks):
        p = parameters(block)
        y, inner = block.y, block.inner
        rows = _count(block.kept_shape)
        first, last = 0, inner
        row, last_row = rows * chunk // chunks, rows * (chunk + 1) // chunks
        if rows == 1:
            row, last_row = 0, 1
            first, last = inner * chunk // chunks, inner * (chunk + 1) // chunks
        total = block.accumulator + chunk * inner * nbytes
        while row < last_row:
            gather(block, total, _offset(block.kept_shape, block.kept_strides, row) + first, last - first)
            for i in range(last - first):
                write(y, row * inner + first + i, finish(read_back(total, i), p))
            row += 1
        return 0

    return kernel


@cache
def _row_by_row(row: Any, itemsize: int) -> Callable:
    @njit(error_model="numpy")
    def gather(x, at, inner):
        return row(x + at * itemsize, inner)

    return gather


def along_kernel(
    type_: ElementType,
    accumulator: Accumulator,
    parameters: Callable,
    finish: Callable,
    row: Any = None,
) -> Callable:
    """y[kept] = finish(elements x[kept, :, :] combined, parameters(block)), cut into chunks by rows.

    row(address, count) combines a row of elements, where there is such a microkernel.
    """
    zero, widen, combine = accumulator[:3]
    read, write = type_.read, type_.write

    @njit(error_model="numpy")
    def one_by_one(x, at, inner):
        total = zero
        for i in range(inner):
            total = combine(total, widen(read(x, at + i)))
        return total

    gather = one_by_one if row is None else _row_by_row(row, type_.bytes)

    def kernel(block, chunk, chunks):
        p = parameters(block)
        rows = _count(block.kept_shape)
        reduced = _count(block.reduced_shape)
        if reduced == 1 and block.kept_shape[_LAST] == rows:
            step = block.kept_strides[_LAST]
            for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
                write(block.y, row, finish(combine(zero, gather(block.x, row * step, block.inner)), p))
            return 0
        for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
            at = _offset(block.kept_shape, block.kept_strides, row)
            total = zero
            for k in range(reduced):
                offset = at + _offset(block.reduced_shape, block.reduced_strides, k)
                total = combine(total, gather(block.x, offset, block.inner))
            write(block.y, row, finish(total, p))
        return 0

    return kernel


def window_kernel(itemsize: int, reduce: Callable) -> Callable:
    """Like across_kernel, for at most two reduced dimensions.

    reduce(block, x, at, total, depth, rows, columns, row_bytes, pixel_bytes) makes depth results from
    a window at the address x (see pool_window.py): at is their element offset in y, total
    the address of depth accumulators.
    """

    def kernel(block, chunk, chunks):
        inner = block.inner
        rows = _count(block.kept_shape)
        first, last = 0, inner
        row, last_row = rows * chunk // chunks, rows * (chunk + 1) // chunks
        if rows == 1:
            row, last_row = 0, 1
            first, last = inner * chunk // chunks, inner * (chunk + 1) // chunks
        height, width = block.reduced_shape[_LAST - 1], block.reduced_shape[_LAST]
        row_bytes = block.reduced_strides[_LAST - 1] * itemsize
        pixel_bytes = block.reduced_strides[_LAST] * itemsize
        total = block.accumulator + chunk * inner * 4
        while row < last_row:
            x_at = _offset(block.kept_shape, block.kept_strides, row) + first
            x = block.x + x_at * itemsize
            reduce(block, x, row * inner + first, total, last - first, height, width, row_bytes, pixel_bytes)
            row += 1
        return 0

    return kernel
