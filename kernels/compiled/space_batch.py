"""SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND, pixel by pixel, in the order of the output."""

from ..space_batch import SPACE_BATCH_ARGS
from .driver.kernel_source import KernelSources
from .run_copy import copy_run, fill_run

kernels = KernelSources()


@kernels.add(SPACE_BATCH_ARGS)
def space_to_batch(a, chunk, chunks):
    rows = a.batch * a.block_height * a.block_width * a.small_height
    for index in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
        image, small_row = index // a.small_height, index % a.small_height
        place, batch = image // a.batch, image % a.batch
        row = small_row * a.block_height + place // a.block_width - a.top
        x = a.x + (batch * a.height + row) * a.width * a.pixel_bytes
        y = a.y + index * a.small_width * a.pixel_bytes
        column = place % a.block_width - a.left
        for _ in range(a.small_width):
            if 0 <= row < a.height and 0 <= column < a.width:
                copy_run(y, x + column * a.pixel_bytes, a.pixel_bytes)
            else:
                fill_run(y, a.filler, a.pixel_bytes)
            column += a.block_width
            y += a.pixel_bytes
    return 0


@kernels.add(SPACE_BATCH_ARGS)
def batch_to_space(a, chunk, chunks):
    rows = a.batch * a.height
    for index in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
        batch, row = index // a.height, index % a.height + a.top
        y = a.y + index * a.width * a.pixel_bytes
        step = a.block_width * a.pixel_bytes
        for shift in range(a.block_width):
            image = (row % a.block_height * a.block_width + shift) * a.batch + batch
            line = (image * a.small_height + row // a.block_height) * a.small_width
            # The first column of the small image that is not cropped.
            first = (a.left - shift + a.block_width - 1) // a.block_width if a.left > shift else 0
            column = first * a.block_width + shift - a.left
            target = y + column * a.pixel_bytes
            x = a.x + (line + first) * a.pixel_bytes
            while column < a.width:
                copy_run(target, x, a.pixel_bytes)
                target += step
                x += a.pixel_bytes
                column += a.block_width
    return 0
