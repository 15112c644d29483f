"""Elements of one operand or the other, by a condition."""

import triton
import triton.language as tl

from .broadcast import row_start, tile


@triton.jit
def select(
    c_ptr, a_ptr, b_ptr, y_ptr, rows, columns, n1, n2, c0, c1, c2, a0, a1, a2, b0, b1, b2,
    C_STEP: tl.constexpr, A_STEP: tl.constexpr, B_STEP: tl.constexpr,
    RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    row, column, ok = tile(rows, columns, ROWS, COLUMNS)
    c = tl.load(c_ptr + row_start(row, n1, n2, c0, c1, c2, RANK) + column * C_STEP, ok, 0)
    a = tl.load(a_ptr + row_start(row, n1, n2, a0, a1, a2, RANK) + column * A_STEP, ok, 0)
    b = tl.load(b_ptr + row_start(row, n1, n2, b0, b1, b2, RANK) + column * B_STEP, ok, 0)
    tl.store(y_ptr + row * columns + column, tl.where(c != 0, a, b), ok)
