"""Loop nests over two broadcast operands, shared by all binary operators."""

from collections.abc import Callable
from typing import Any

from numba import njit

from ..broadcast import BROADCAST_RANK

_MIDDLE = BROADCAST_RANK - 2
_INNER = BROADCAST_RANK - 1


@njit(error_model="numpy")
def operand_offset(shape, strides, outer):
    """Element offset of the outer-th combination of all but the last two dimensions."""
    offset = 0
    d = _MIDDLE - 1
    while outer > 0:  # divisions are slow, and most loops have few dimensions
        if d == 0 or outer < shape[d]:
            return offset + outer * strides[d]
        offset += outer % shape[d] * strides[d]
        outer //= shape[d]
        d -= 1
    return offset


def row_kernel(inner: Callable) -> Callable:
    """A kernel of (block, chunk, chunks) that calls inner for each row of a broadcast.

    inner(block, a_at, a_step, b_at, b_step, out_at, count) computes count elements from the
    element offsets on; a step of 0 means that the operand's one element serves them all.
    Rows are cut into chunks, or the inner loop where there is one row.
    """

    def kernel(block, chunk, chunks):
        shape, a_strides, b_strides = block.shape, block.a_strides, block.b_strides
        middle, count = shape[_MIDDLE], shape[_INNER]
        rows = middle
        for d in range(_MIDDLE):
            rows *= shape[d]
        row, last_row = rows * chunk // chunks, rows * (chunk + 1) // chunks
        first, last = 0, count
        if rows == 1:
            row, last_row = 0, 1
            first, last = count * chunk // chunks, count * (chunk + 1) // chunks
        a_step, b_step = a_strides[_INNER], b_strides[_INNER]
        while row < last_row:
            m = row % middle
            stop = min(middle, m + last_row - row)
            a_at = operand_offset(shape, a_strides, row // middle) + first * a_step
            b_at = operand_offset(shape, b_strides, row // middle) + first * b_step
            for k in range(m, stop):
                inner(
                    block,
                    a_at + k * a_strides[_MIDDLE],
                    a_step,
                    b_at + k * b_strides[_MIDDLE],
                    b_step,
                    row * count + first,
                    last - first,
                )
                row += 1
        return 0

    return kernel


def broadcast_kernel(read: Any, write: Any, parameters: Callable, combine: Callable) -> Callable:
    """A kernel of (block, chunk, chunks) that sets out[i] = combine(a[i], b[i], parameters(block)).

    The block has the fields a, b, out (addresses) and BROADCAST_FIELDS.
    """

    @njit(error_model="numpy")
    def inner(block, a_at, a_step, b_at, b_step, out_at, count):
        a, b, out, p = block.a, block.b, block.out, parameters(block)
        if a_step == 0:
            x = read(a, a_at)
            for i in range(count):
                write(out, out_at + i, combine(x, read(b, b_at + i), p))
        elif b_step == 0:
            y = read(b, b_at)
            for i in range(count):
                write(out, out_at + i, combine(read(a, a_at + i), y, p))
        else:
            for i in range(count):
                write(out, out_at + i, combine(read(a, a_at + i), read(b, b_at + i), p))

    return row_kernel(inner)
