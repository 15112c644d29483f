"""The 8-bit depthwise kernels around their microkernels: rows of x in, rows of y out."""

from __future__ import annotations

import numpy as np
from numba import carray, njit

from ..contraction.blocks import DEPTHWISE_Q8
from ..requantize import DOUBLE_ROUNDING, FLOAT_ROUNDING, HYBRID
from .depthwise_direct_q8 import direct_columns
from .depthwise_tile_q8 import GROUPED_HYBRID, HYBRIDS, any_taps, columns
from .dot_q8 import QUANTIZATION_BYTES
from .driver.kernel_source import KernelSources
from .language.memory import int32_pointer, int64_pointer
from .language.target import target
from .run_copy import copy_run, fill_run, repeat_bytes

kernels = KernelSources()

EVERY_BYTE = 0x0101010101010101


@njit(error_model="numpy")
def copy_row(a, source, target, value):
    """One row of x with padding at its sides, phase after phase, each channel `multiplier` times."""
    depth = a.in_depth * a.multiplier
    for phase in range(a.phases):
        start = target + phase * a.phase_bytes
        # The phase's columns first to last are columns of x.
        first = (a.left - phase + a.phases - 1) // a.phases
        last = (a.left + a.in_width - phase + a.phases - 1) // a.phases
        fill_run(start, value, first * depth)
        middle, column = start + first * depth, first * a.phases + phase - a.left
        if a.phases == 1 and a.multiplier == 1:
            copy_run(middle, source, a.in_row_bytes)
        else:
            at, step = source + column * a.in_depth, a.phases * a.in_depth
            repeat_bytes(middle, at, step, last - first, a.in_depth, a.multiplier)
        fill_run(start + last * depth, value, a.phase_bytes - last * depth)


@njit(error_model="numpy")
def copy_rows(a, x, first, last, ring, copied, value):
    """Copy rows first to last of the image at x, but for the first `copied`; returns the new count."""
    for h in range(max(first, copied), min(last + 1, a.in_height)):
        copy_row(a, x + h * a.in_row_bytes, ring + h % a.slots * a.slot_bytes, value)
    return max(copied, min(last + 1, a.in_height))


@njit(error_model="numpy")
def row_address(a, x, h, ring, padding):
    if h < 0 or h >= a.in_height:
        return padding
    if a.copies != 0:
        return ring + h % a.slots * a.slot_bytes
    return x + h * a.in_row_bytes


def add_any(name: str, rounding: int) -> None:
    """The kernel for filters of any size."""
    taps_row = any_taps(rounding)
    HYBRID_IMAGES = rounding in HYBRIDS

    @kernels.add(DEPTHWISE_Q8, name)
    def depthwise(a, chunk, chunks):
        scratch = a.scratch + chunk * a.scratch_bytes
        taps = carray(int64_pointer(scratch), 4 * a.groups)
        tap_offsets = carray(int64_pointer(a.tap_offsets), a.filter_width)
        ring = scratch + a.ring_at
        rows = a.images * a.out_height
        before, copied = -1, 0
        padding, quantization, value = a.padding, a.quantization, np.int64(a.padding_value)
        for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
            image = row // a.out_height
            top = (row - image * a.out_height) * a.stride_h - a.pad_top
            x = a.x + image * a.image_bytes
            if image != before:
                before, copied = image, 0
                if HYBRID_IMAGES:
                    padding = a.padding + image * a.padding_step
                    quantization = a.quantization + image * QUANTIZATION_BYTES
                    value = np.int64(carray(int32_pointer(quantization), 1)[0]) * EVERY_BYTE
            if a.copies != 0:
                last = top + (a.filter_height - 1) * a.dilation_h
                copied = copy_rows(a, x, max(top, 0), last, ring, copied, value)
            t = 0
            for _ in range(a.sets):
                for kh in range(a.filter_height):
                    start = row_address(a, x, top + kh * a.dilation_h, ring, padding)
                    for kw in range(a.filter_width):
                        taps[t] = start + tap_offsets[kw]
                        t += 1
            while t < 4 * a.groups:
                taps[t] = taps[0]
                t += 1
            y = a.y + row * a.out_row_bytes
            taps_row(
                scratch,
                a.groups,
                a.w,
                a.block_bytes,
                y,
                a.out_width,
                a.step,
                a.channels,
                a.output,
                quantization,
            )
        return 0


def add_columns(name: str, size: int, stride: int, together: int, sets: int, rounding: int) -> None:
    """The kernel for square filters of one size and stride."""
    emitted = direct_columns if target().arch == "aarch64" else columns
    rows_of_outputs = emitted(size, size, stride, together, sets, rounding)
    ROWS = size + together - 1
    TOGETHER = together

    @kernels.add(DEPTHWISE_Q8, name)
    def depthwise(a, chunk, chunks):
        scratch = a.scratch + chunk * a.scratch_bytes
        addresses = carray(int64_pointer(scratch), ROWS)
        ring = scratch + a.ring_at
        steps = (a.out_height + TOGETHER - 1) // TOGETHER
        before, copied = -1, 0
        for step in range(a.images * steps * chunk // chunks, a.images * steps * (chunk + 1) // chunks):
            image = step // steps
            row = (step - image * steps) * TOGETHER
            top = row * a.stride_h - a.pad_top
            if image != before:
                before, copied = image, 0
            x = a.x + image * a.image_bytes
            if a.copies != 0:
                copied = copy_rows(a, x, max(top, 0), top + ROWS - 1, ring, copied, a.padding_value)
            for k in range(ROWS):
                addresses[k] = row_address(a, x, top + k, ring, a.padding)
            y = a.y + (image * a.out_height + row) * a.out_row_bytes
            y_next = y + a.out_row_bytes
            if row + TOGETHER > a.out_height:
                y_next = scratch + a.spare_at
            rows_of_outputs(scratch, a.w, a.block_bytes, y, y_next, a.out_width, a.channels, a.output)
        return 0


add_any("depthwise_conv_q8", FLOAT_ROUNDING)
add_any("depthwise_conv_exact_q8", DOUBLE_ROUNDING)
add_any("depthwise_conv_hybrid", HYBRID)
add_any("grouped_conv_hybrid", GROUPED_HYBRID)
# Filters of a size, by how many int8 sets their weights are the sum of.
for _name, _size, _sets, _rounding in (
    ("3x3_q8", 3, 1, FLOAT_ROUNDING),
    ("3x3_wide_q8", 3, 2, FLOAT_ROUNDING),
    ("3x3_exact_q8", 3, 1, DOUBLE_ROUNDING),
    ("5x5_q8", 5, 1, FLOAT_ROUNDING),
):
    for _stride in (1, 2):
        _together = 2 if (_size, _stride) == (3, 1) else 1
        add_columns(f"depthwise_conv_{_name}_stride_{_stride}", _size, _stride, _together, _sets, _rounding)
