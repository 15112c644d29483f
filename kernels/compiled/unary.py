"""The loop over one operand, shared by all elementwise operators."""

from collections.abc import Callable
from typing import Any

from numba import njit


def unary_kernel(read: Any, write: Any, parameters: Callable, function: Callable) -> Callable:
    """A kernel of (block, chunk, chunks) that sets y[i] = function(x[i], parameters(block)).

    The block has the fields x, y (addresses) and size.
    """
    function = njit(error_model="numpy")(function)
    parameters = njit(error_model="numpy")(parameters)

    def kernel(block, chunk, chunks):
        p = parameters(block)
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
