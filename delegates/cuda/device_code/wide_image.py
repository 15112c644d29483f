"""Images of few channels, stored with their border and more channels."""

import triton
import triton.language as tl


@triton.jit
def widen(
    x_ptr, y_ptr, pixels, in_height, in_width, height, width, pad_top, pad_left,
    DEPTH: tl.constexpr, CHANNELS: tl.constexpr, OUTSIDE: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """y [pixels, CHANNELS], images of height x width, is x [.., in_height, in_width, DEPTH], else OUTSIDE."""
    pixel = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    c = tl.arange(0, CHANNELS)[None, :]
    row, column = pixel // width, pixel % width - pad_left
    image, row = row // height, row % height - pad_top
    inside = (row >= 0) & (row < in_height) & (column >= 0) & (column < in_width) & (pixel < pixels)
    at = ((image * in_height + row) * in_width + column) * DEPTH
    value = tl.load(x_ptr + at[:, None] + c, inside[:, None] & (c < DEPTH), OUTSIDE)
    tl.store(y_ptr + pixel[:, None] * CHANNELS + c, value, (pixel < pixels)[:, None] & (c < CHANNELS))
