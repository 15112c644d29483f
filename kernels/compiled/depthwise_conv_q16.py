"""Depthwise convolution of int16 by int8."""

import numpy as np
from numba import carray, njit

from ..contraction.blocks import PLAIN_Q16
from .driver.kernel_source import KernelSources
from .language.memory import float64_pointer, int8_pointer, int16_pointer, int32_pointer, int64_pointer
from .requantize import requantize_q16

kernels = KernelSources()

# So many products fit an int32 sum.
TERMS = 256


@njit(error_model="numpy")
def add_tap(x, w, sums, channels, multiplier):
    """sums += x * w, each channel of x serving `multiplier` neighbours."""
    if multiplier == 1:
        for c in range(channels):
            sums[c] += np.int32(np.int32(x[c]) * np.int32(w[c]))
        return
    for o in range(channels):
        sums[o] += np.int32(np.int32(x[o // multiplier]) * np.int32(w[o]))


@kernels.add(PLAIN_Q16)
def depthwise_conv_q16(a, chunk, chunks):
    multipliers = carray(int32_pointer(a.multipliers), a.out_depth)
    shifts = carray(int32_pointer(a.shifts), a.out_depth)
    real_scales = carray(float64_pointer(a.real_scales), a.out_depth)
    pixels = a.batch * a.out_height * a.out_width
    totals = carray(int64_pointer(a.scratch + chunk * a.scratch_bytes), a.out_depth)
    sums = carray(int32_pointer(a.scratch + chunk * a.scratch_bytes + a.out_depth * 8), a.out_depth)
    y = carray(int16_pointer(a.y), (pixels, a.out_depth))
    for pixel in range(pixels * chunk // chunks, pixels * (chunk + 1) // chunks):
        row = pixel // a.out_width
        image = row // a.out_height
        top = (row - image * a.out_height) * a.stride_h - a.pad_top
        left = (pixel - row * a.out_width) * a.stride_w - a.pad_left
        totals[:] = 0
        sums[:] = 0
        terms = 0
        for kh in range(a.filter_height):
            h = top + kh * a.dilation_h
            if h < 0 or h >= a.in_height:
                continue
            for kw in range(a.filter_width):
                v = left + kw * a.dilation_w
                if v < 0 or v >= a.in_width:
                    continue
                x = int16_pointer(a.x + ((image * a.in_height + h) * a.in_width + v) * a.in_depth * 2)
                w = int8_pointer(a.w + (kh * a.filter_width + kw) * a.out_depth)
                add_tap(x, w, sums, a.out_depth, a.out_depth // a.in_depth)
                terms += 1
                if terms == TERMS:
                    for o in range(a.out_depth):
                        totals[o] += np.int64(sums[o])
                        sums[o] = 0
                    terms = 0
        for o in range(a.out_depth):
            total = totals[o] + np.int64(sums[o])
            if a.bias != 0:
                total += int64_pointer(a.bias)[o] if a.bias_is_wide else np.int64(int32_pointer(a.bias)[o])
            y[pixel, o] = requantize_q16(
                total, a.rounding, multipliers[o], shifts[o], real_scales[o], a.lowest, a.highest
            )
    return 0
