"""Convolution of quantized images and int8 weights with float32 outputs, in the reference's order."""

import numpy as np
from numba import carray

from ..contraction.blocks import PLAIN_HYBRID, ROW_QUANTIZATION
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, int8_pointer, record_pointer, uint8_pointer

kernels = KernelSources()
_quantization_at = record_pointer(ROW_QUANTIZATION)


@kernels.add(PLAIN_HYBRID)
def conv_plain_hybrid(a, chunk, chunks):
    taps_depth = a.filter_height * a.filter_width * a.filter_depth
    # Each image of q is padded to a multiple of four bytes.
    image_bytes = (a.in_height * a.in_width * a.in_depth + 3) // 4 * 4
    depth = a.filter_depth
    y = carray(float32_pointer(a.y), a.batch * a.out_height * a.out_width * a.out_depth)
    bias = carray(float32_pointer(a.bias), a.out_depth)
    scales = carray(float32_pointer(a.scales), a.out_depth)
    quantization = carray(_quantization_at(a.quantization), a.batch)
    group_depth = a.out_depth // a.groups
    outputs = a.batch * a.out_height * a.out_width * a.out_depth
    for i in range(outputs * chunk // chunks, outputs * (chunk + 1) // chunks):
        pixel = i // a.out_depth
        o = i - pixel * a.out_depth
        row = pixel // a.out_width
        image = row // a.out_height
        top = (row - image * a.out_height) * a.stride_h - a.pad_top
        left = (pixel - row * a.out_width) * a.stride_w - a.pad_left
        first = o // group_depth * a.filter_depth
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
                q_at = image * image_bytes + (h * a.in_width + v) * a.in_depth + first
                w_at = o * taps_depth + (kh * a.filter_width + kw) * a.filter_depth
                # Views that start where the tap does: with them LLVM makes vectors of the loop.
                qs = carray(uint8_pointer(a.q + q_at), depth)
                ws = carray(int8_pointer(a.w + w_at), depth)
                part = np.int32(0)
                for c in range(depth):
                    value = np.int32(np.int32(qs[c]) - zero_point)
                    part = np.int32(part + np.int32(value * np.int32(ws[c])))
                total = np.int32(total + part)
        if a.channel_first != 0:
            value = (np.float32(total) * scales[o]) * quantization[image].scale
        else:
            value = np.float32(total) * (scales[o] * quantization[image].scale)
        if a.bias != 0:
            value = value + bias[o]
        y[i] = min(max(value, a.low), a.high)
    return 0
