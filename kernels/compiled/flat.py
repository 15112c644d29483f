"""The loop over two operands of one shape, where nothing is broadcast."""

from collections.abc import Callable
from typing import Any


def flat_kernel(read: Any, write: Any, combine: Callable) -> Callable:
    """A kernel of (block, chunk, chunks) that sets out[i] = combine(a[i], b[i]).

    The block has the fields a, b, out (addresses) and size.
    """

    def kernel(block, chunk, chunks):
        a, b, out = block.a, block.b, block.out
        for i in range(block.size * chunk // chunks, block.size * (chunk + 1) // chunks):
            write(out, i, combine(read(a, i), read(b, i)))
        return 0

    return kernel
