"""Copies of images with padding around them, for convolutions that read rows as runs of bytes."""

import numpy as np
from numba import carray

from ..conv_q8 import PAD_IMAGE_Q8
from .family import KernelFamily
from .memory import uint8_pointer

kernels = KernelFamily()


@kernels.add(PAD_IMAGE_Q8)
def pad_image_q8(a, chunk, chunks):
    rows = a.images * a.padded_height
    x = carray(uint8_pointer(a.x), a.images * a.height * a.row_bytes)
    padded = carray(uint8_pointer(a.padded), rows * a.padded_row_bytes)
    value = np.uint8(a.value)
    for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
        image = row // a.padded_height
        h = row - image * a.padded_height - a.top
        start = row * a.padded_row_bytes
        left = a.left_bytes
        if h < 0 or h >= a.height:
            left = a.padded_row_bytes
        for k in range(left):
            padded[start + k] = value
        if left == a.padded_row_bytes:
            continue
        source = (image * a.height + h) * a.row_bytes
        for k in range(a.row_bytes):
            padded[start + left + k] = x[source + k]
        for k in range(left + a.row_bytes, a.padded_row_bytes):
            padded[start + k] = value
    return 0
