"""What is laid out anew in each invoke: float32 weights that are not constant, and images with padding."""

from numba import carray

from ..contraction.blocks import BLOCK_CHANNELS, PACK_BLOCKS_F32, PACK_PANELS_F32, PAD_IMAGE_Q8
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer
from .language.panel_columns import NARROW_COLUMNS, PANEL_COLUMNS
from .run_copy import copy_run, fill_run

kernels = KernelSources()


@kernels.add(PACK_PANELS_F32)
def pack_panels_f32(a, chunk, chunks):
    w = carray(float32_pointer(a.w), (a.groups, a.columns, a.depth))
    to = a.packed
    for g in range(a.groups):
        for n in range(0, a.columns, PANEL_COLUMNS):
            width = PANEL_COLUMNS if a.columns - n > NARROW_COLUMNS else NARROW_COLUMNS
            panel = carray(float32_pointer(to), (a.depth + 1, width))
            used = min(width, a.columns - n)
            panel[0, :] = 0
            if a.bias != 0:
                bias = carray(float32_pointer(a.bias), (a.groups, a.columns))
                for j in range(used):
                    panel[0, j] = bias[g, n + j]
            for k in range(a.depth):
                for j in range(used):
                    panel[k + 1, j] = w[g, n + j, k]
                for j in range(used, width):
                    panel[k + 1, j] = 0
            to += (a.depth + 1) * width * 4
    return 0


@kernels.add(PACK_BLOCKS_F32)
def pack_blocks_f32(a, chunk, chunks):
    blocks = (a.channels + BLOCK_CHANNELS - 1) // BLOCK_CHANNELS
    w = carray(float32_pointer(a.w), (a.taps, a.channels))
    packed = carray(float32_pointer(a.packed), (blocks, a.taps + 1, BLOCK_CHANNELS))
    packed[:] = 0
    for c in range(a.channels):
        block, within = c // BLOCK_CHANNELS, c % BLOCK_CHANNELS
        if a.bias != 0:
            packed[block, 0, within] = carray(float32_pointer(a.bias), a.channels)[c]
        for tap in range(a.taps):
            packed[block, tap + 1, within] = w[tap, c]
    return 0


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
