"""Copies of images with padding around them, for convolutions that read rows as runs of bytes."""

from ..contraction.blocks import PAD_IMAGE_Q8
from .driver.kernel_source import KernelSources
from .run_copy import copy_run, fill_run

kernels = KernelSources()


@kernels.add(PAD_IMAGE_Q8)
def pad_image_q8(a, chunk, chunks):
    rows = a.images * a.padded_height
    for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
        image = row // a.padded_height
        h = row - image * a.padded_height - a.top
        target = a.padded + row * a.padded_row_bytes
        if h < 0 or h >= a.height:
            fill_run(target, a.value, a.padded_row_bytes)
            continue
        done = a.left_bytes + a.row_bytes
        fill_run(target, a.value, a.left_bytes)
        copy_run(target + a.left_bytes, a.x + (image * a.height + h) * a.row_bytes, a.row_bytes)
        fill_run(target + done, a.value, a.padded_row_bytes - done)
    return 0
