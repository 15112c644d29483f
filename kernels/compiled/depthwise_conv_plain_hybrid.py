"""Depthwise convolution of quantized images and int8 weights with float32 outputs."""

import numpy as np
from numba import carray

from ..contraction.blocks import PLAIN_HYBRID, ROW_QUANTIZATION
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, int8_pointer, record_pointer, uint8_pointer

kernels = KernelSources()
_quantization_at = record_pointer(ROW_QUANTIZATION)


@kernels.add(PLAIN_HYBRID)
def depthwise_conv_plain_hybrid(a, chunk, chunks):
    taps, multiplier = a.filter_height * a.filter_width, a.out_depth // a.in_depth
    # Each image of q is padded to a multiple of four bytes.
    image_bytes = (a.in_height * a.in_width * a.in_depth + 3) // 4 * 4
    q = carray(uint8_pointer(a.q), a.batch * image_bytes)
    w = carray(int8_pointer(a.w), a.out_depth * taps)
    y = carray(float32_pointer(a.y), a.batch * a.out_height * a.out_width * a.out_depth)
    bias = carray(float32_pointer(a.bias), a.out_depth)
    scales = carray(float32_pointer(a.scales), a.out_depth)
    quantization = carray(_quantization_at(a.quantization), a.batch)
    outputs = a.batch * a.out_height * a.out_width * a.out_depth
    for i in range(outputs * chunk // chunks, outputs * (chunk + 1) // chunks):
        pixel = i // a.out_depth
        o = i - pixel * a.out_depth
        row = pixel // a.out_width
        image = row // a.out_height
        top = (row - image * a.out_height) * a.stride_h - a.pad_top
        left = (pixel - row * a.out_width) * a.stride_w - a.pad_left
        zero_point = quantization[image].zero_point
        total = np.int32(0)
        for kh in range(a.filter_height):
            h = top + kh * a.dilation_h
            if h < 0 or h >= a.in_height:
                continue
            for kw in range(a.filter_width):
                v = left + kw * a.dilation_w
                if v < 0 or v >= a.in_width:
                    continue
                q_at = image * image_bytes + (h * a.in_width + v) * a.in_depth + o // multiplier
                value = np.int32(np.int32(q[q_at]) - zero_point)
                weight = np.int32(w[(kh * a.filter_width + kw) * a.out_depth + o])
                total = np.int32(total + np.int32(value * weight))
        if a.channel_first != 0:
            value = (np.float32(total) * scales[o]) * quantization[image].scale
        else:
            value = np.float32(total) * (scales[o] * quantization[image].scale)
        if a.bias != 0:
            value = value + bias[o]
        y[i] = min(max(value, a.low), a.high)
    return 0
