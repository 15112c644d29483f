"""Running sums."""

import triton
import triton.language as tl


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
