"""The loops of operators on single elements: over one operand, and over several that broadcast."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ..element_functions import BROADCAST_RANK
from .language.memory import stack_bytes
from .language.primitives import atomic_load, atomic_store
from .lookup import lookup_row

_MIDDLE = BROADCAST_RANK - 2
_INNER = BROADCAST_RANK - 1
_LONG_ROW = 512  # elements, for which a table of 256 results pays
_table = stack_bytes(256)


def parameters(names: str) -> Callable:
    """A function of a block that gives the values of these fields, in this order."""
    scope: dict[str, Any] = {}
    exec(f"def fields(block):\n    return ({''.join(f'block.{name}, ' for name in names.split())})\n", scope)
    return njit(error_model="numpy")(scope["fields"])


def unary_kernel(read: Any, write: Any, values: Callable, function: Callable) -> Callable:
    """A kernel of (block, chunk, chunks) that sets y[i] = function(x[i], values(block)).

    The block has the fields x, y (addresses) and size.
    """

    def kernel(block, chunk, chunks):
        p = values(block)
        x, y = block.x, block.y
        for i in range(block.size * chunk // chunks, block.size * (chunk + 1) // chunks):
            write(y, i, function(read(x, i), p))
        return 0

    return kernel


def mapped_kernel(row: Any) -> Callable:
    """The same with a microkernel row(x, y, count) of float32 (see vector_map.py)."""

    def kernel(block, chunk, chunks):
        first, last = block.size * chunk // chunks, block.size * (chunk + 1) // chunks
        row(block.x + first * 4, block.y + first * 4, last - first)
        return 0

    return kernel


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


_WALK = """
def kernel(block, chunk, chunks):
    shape = block.shape
    middle, count = shape[_MIDDLE], shape[_INNER]
    rows = middle
    for d in range(_MIDDLE):
        rows *= shape[d]
    row, last_row = rows * chunk // chunks, rows * (chunk + 1) // chunks
    first, last = 0, count
    if rows == 1:
        row, last_row = 0, 1
        first, last = count * chunk // chunks, count * (chunk + 1) // chunks
    {steps}
    while row < last_row:
        m = row % middle
        stop = min(middle, m + last_row - row)
        {starts}
        for k in range(m, stop):
            inner(block, {places}, row * count + first, last - first)
            row += 1
    return 0
"""


def row_kernel(inner: Callable, operands: tuple[str, ...] = ("a", "b")) -> Callable:
    """A kernel of (block, chunk, chunks) that calls inner for each row of a broadcast of operands.

    inner(block, a_at, a_step, b_at, b_step, out_at, count) computes count elements from the
    element offsets on, of which there are as many as operands; a step of 0 means that the operand's one
    element serves them all. Rows are cut into chunks, or the inner loop where there is one row.
    """
    start = "{0}_at = operand_offset(shape, block.{0}_strides, row // middle) + first * {0}_step"
    scope: dict[str, Any] = {**globals(), "inner": inner}
    steps = "\n    ".join(f"{name}_step = block.{name}_strides[_INNER]" for name in operands)
    starts = "\n        ".join(start.format(name) for name in operands)
    places = ", ".join(f"{name}_at + k * block.{name}_strides[_MIDDLE], {name}_step" for name in operands)
    exec(_WALK.format(steps=steps, starts=starts, places=places), scope)
    kernel: Callable = scope["kernel"]
    return kernel


def broadcast_kernel(
    read: Any, write: Any, item_bytes: tuple[int, int], values: Callable, combine: Callable
) -> Callable:
    """A kernel of (block, chunk, chunks) that sets out[i] = combine(a[i], b[i], values(block)).

    The block has the fields a, b, out (addresses) and those of the loops; item_bytes are those of an
    operand's and of the result's element.
    """
    return row_kernel(_row_of_pairs(read, write, item_bytes, values, combine))


def _row_of_pairs(
    read: Any, write: Any, item_bytes: tuple[int, int], values: Callable, combine: Callable
) -> Callable:
    """What combines one row, where either operand may be one element."""
    operand, result = item_bytes

    @njit(error_model="numpy")
    def row(block, a_at, a_step, b_at, b_step, out_at, count):
        # One index serves all three, which leaves registers for what halves need.
        a, b, out = block.a + a_at * operand, block.b + b_at * operand, block.out + out_at * result
        p = values(block)
        if a_step == 0:
            x = read(a, 0)
            for i in range(count):
                write(out, i, combine(x, read(b, i), p))
        elif b_step == 0:
            y = read(b, 0)
            for i in range(count):
                write(out, i, combine(read(a, i), y, p))
        else:
            for i in range(count):
                write(out, i, combine(read(a, i), read(b, i), p))

    return row


def looked_up_kernel(
    width: Any, read: Any, write: Any, values: Callable, combine: Callable, plain: Callable | None = None
) -> Callable:
    """The same of bytes, where long rows meet one element by a table of what comes of each byte.

    plain(block, a_at, a_step, b_at, b_step, out_at, count), where it is given, computes the other rows.
    """
    plain = plain or _row_of_pairs(read, write, (1, 1), values, combine)

    @njit(error_model="numpy")
    def row(block, a_at, a_step, b_at, b_step, out_at, count):
        a, b, out = block.a + a_at, block.b + b_at, block.out + out_at
        p = values(block)
        if count >= _LONG_ROW and a_step == 0:
            x, table = read(a, 0), _table()
            for i in range(256):
                write(table, i, combine(x, width(i), p))
            lookup_row(b, out, table, count)
        elif count >= _LONG_ROW and b_step == 0:
            y, table = read(b, 0), _table()
            for i in range(256):
                write(table, i, combine(width(i), y, p))
            lookup_row(a, out, table, count)
        else:
            plain(block, a_at, a_step, b_at, b_step, out_at, count)

    return row_kernel(row)


def remembering_kernel(width: Any, read: Any, write: Any, values: Callable, combine: Callable) -> Callable:
    """The same of bytes, whose tables stay from row to row and run to run, where there is memory for them.

    In all rows it is the same operand that is one element, or in none. Threads that make one table write the
    same into it.
    """
    plain = _row_of_pairs(read, write, (1, 1), values, combine)

    @njit(error_model="numpy")
    def row(block, a_at, a_step, b_at, b_step, out_at, count):
        if block.memory == 0 or (a_step != 0 and b_step != 0):
            plain(block, a_at, a_step, b_at, b_step, out_at, count)
            return
        a, b, out = block.a + a_at, block.b + b_at, block.out + out_at
        p = values(block)
        one = read(a, 0) if a_step == 0 else read(b, 0)
        place = np.int64(one) & 255
        table = block.memory + 8 * 256 + 256 * place
        if atomic_load(block.memory + 8 * place) == 0:
            for i in range(256):
                write(table, i, combine(one, width(i), p) if a_step == 0 else combine(width(i), one, p))
            atomic_store(block.memory + 8 * place, 1)
        lookup_row(b if a_step == 0 else a, out, table, count)

    return row_kernel(row)


def checked(kernel: Callable, read: Any, allowed: Callable, status: int) -> Callable:
    """The kernel, but the status where allowed(y, block) is false for an element of the second operand."""
    compute = njit(error_model="numpy")(kernel)

    def checking(block, chunk, chunks):
        count = 1
        for d in range(len(block.shape)):
            if block.b_strides[d] != 0:
                count *= block.shape[d]
        for i in range(count):
            if not allowed(read(block.b, i), block):
                return status
        return compute(block, chunk, chunks)

    return checking
