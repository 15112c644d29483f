"""The loop over a tensor quantized per tensor or per channel."""

from collections.abc import Callable


def affine_kernel(convert: Callable) -> Callable:
    """convert(block, channel, at, count) for each row of [outer, channels, inner], cut into chunks.

    It converts count elements from the element offset `at` on.
    """

    def kernel(a, chunk, chunks):
        inner = a.inner
        rows = a.outer * a.channels
        first, last = 0, inner
        row, last_row = rows * chunk // chunks, rows * (chunk + 1) // chunks
        if rows == 1:
            row, last_row = 0, 1
            first, last = inner * chunk // chunks, inner * (chunk + 1) // chunks
        while row < last_row:
            convert(a, row % a.channels, row * inner + first, last - first)
            row += 1
        return 0

    return kernel
