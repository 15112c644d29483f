"""Where the operands of an elementwise operator lie."""

import triton
import triton.language as tl


@triton.jit
def offsets(i, n1, n2, n3, s0, s1, s2, s3, RANK: tl.constexpr):
    """Element i of a result [.., n1, n2, n3] in an operand with strides s0 to s3; the last RANK count."""
    if RANK == 1:
        return i * s3
    at = i % n3 * s3
    i = i // n3
    if RANK == 2:
        return at + i * s2
    at += i % n2 * s2
    i = i // n2
    if RANK == 3:
        return at + i * s1
    return at + i % n1 * s1 + i // n1 * s0


@triton.jit
def tile(rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """A program's rows [ROWS, 1] and columns [1, COLUMNS] of a matrix, and which elements there are."""
    blocks = tl.cdiv(columns, COLUMNS)
    row = (tl.program_id(0) // blocks * ROWS + tl.arange(0, ROWS))[:, None]
    column = (tl.program_id(0) % blocks * COLUMNS + tl.arange(0, COLUMNS))[None, :]
    return row, column, (row < rows) & (column < columns)


@triton.jit
def row_start(row, n1, n2, s0, s1, s2, RANK: tl.constexpr):
    """A row of a result [.., n1, n2, columns] of RANK loops in an operand with strides s0 to s2."""
    if RANK == 1:
        return row * 0
    return offsets(row, 1, n1, n2, 0, s0, s1, s2, RANK - 1)


@triton.jit
def places(
    rows, columns, n1, n2, a0, a1, a2, b0, b1, b2,
    A_STEP: tl.constexpr, B_STEP: tl.constexpr, RANK: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    """Where a program's elements lie in a, in b and in the result, and which there are."""
    row, column, ok = tile(rows, columns, ROWS, COLUMNS)
    a_at = row_start(row, n1, n2, a0, a1, a2, RANK) + column * A_STEP
    b_at = row_start(row, n1, n2, b0, b1, b2, RANK) + column * B_STEP
    return a_at, b_at, row * columns + column, ok
