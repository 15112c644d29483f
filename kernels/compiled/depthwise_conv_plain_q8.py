"""8-bit depthwise convolution, in the reference's order."""

import numpy as np
from numba import carray

from ..contraction.blocks import PLAIN_Q8
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, float64_pointer, int32_pointer, uint8_pointer
from .requantize import requantize

kernels = KernelSources()


@kernels.add(PLAIN_Q8)
def depthwise_conv_plain_q8(a, chunk, chunks):
    taps, multiplier = a.filter_height * a.filter_width, a.out_depth // a.in_depth
    x = carray(uint8_pointer(a.x), a.batch * a.in_height * a.in_width * a.in_depth)
    w = carray(uint8_pointer(a.w), a.out_depth * taps)
    y = carray(uint8_pointer(a.y), a.batch * a.out_height * a.out_width * a.out_depth)
    bias = carray(int32_pointer(a.bias), a.out_depth)
    multipliers = carray(int32_pointer(a.multipliers), a.out_depth)
    shifts = carray(int32_pointer(a.shifts), a.out_depth)
    float_scales = carray(float32_pointer(a.float_scales), a.out_depth)
    real_scales = carray(float64_pointer(a.real_scales), a.out_depth)
    flip = np.int32(a.flip)
    x_offset = np.int32(a.x_offset)
    w_offset = np.int32(a.w_offset)
    outputs = a.batch * a.out_height * a.out_width * a.out_depth
    for i in range(outputs * chunk // chunks, outputs * (chunk + 1) // chunks):
        pixel = i // a.out_depth
        o = i - pixel * a.out_depth
        row = pixel // a.out_width
        image = row // a.out_height
        top = (row - image * a.out_height) * a.stride_h - a.pad_top
        left = (pixel - row * a.out_width) * a.stride_w - a.pad_left
        total = bias[o] if a.bias != 0 else np.int32(0)
        for kh in range(a.filter_height):
            h = top + kh * a.dilation_h
            if h < 0 or h >= a.in_height:
                continue
            for kw in range(a.filter_width):
                v = left + kw * a.dilation_w
                if v < 0 or v >= a.in_width:
                    continue
                x_at = ((image * a.in_height + h) * a.in_width + v) * a.in_depth + o // multiplier
                value = np.int32(np.int32(x[x_at]) ^ flip) - x_offset
                weight = np.int32(np.int32(w[(kh * a.filter_width + kw) * a.out_depth + o]) ^ flip) - w_offset
                total = np.int32(total + np.int32(value * weight))
        y[i] = np.uint8(
            requantize(
                total,
                a.rounding,
                multipliers[o],
                shifts[o],
                float_scales[o],
                real_scales[o],
                a.y_zero_point,
                a.lowest,
                a.highest,
            )
        )
    return 0
