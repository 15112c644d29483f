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
