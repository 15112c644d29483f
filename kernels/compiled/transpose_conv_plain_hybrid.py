"""Transposed convolution of quantized images and int8 weights to float32, summed in the reference's order."""

import numpy as np
from numba import carray

from ..contraction.blocks import PLAIN_HYBRID, ROW_QUANTIZATION
from .driver.kernel_source import KernelSources
from .language.memory import float32_pointer, int8_pointer, record_pointer, uint8_pointer

kernels = KernelSources()
_quantization_at = record_pointer(ROW_QUANTIZATION)


@kernels.add(PLAIN_HYBRID)
def transpose_conv_plain_hybrid(a, chunk, chunks):
    scales = carray(float32_pointer(a.scales), a.out_depth)
    outputs = a.batch * a.out_height * a.out_width * a.out_depth
    y = carray(float32_pointer(a.y), outputs)
    quantization = carray(_quantization_at(a.quantization), a.batch)
    for i in range(outputs * chunk // chunks, outputs * (chunk + 1) // chunks):
        pixel = i // a.out_depth
        o = i - pixel * a.out_depth
        row = pixel // a.out_width
        image = row // a.out_height
        bottom = row - image * a.out_height + a.pad_top
        right = pixel - row * a.out_width + a.pad_left
        zero_point = np.int32(quantization[image].zero_point)
        scale = quantization[image].scale
        total = np.float32(0)
        # Input rows and columns in rising order: the last taps come first.
        for h in range(max(0, (bottom - a.filter_height) // a.stride_h + 1), a.in_height):
            kh = bottom - h * a.stride_h
            if kh < 0:
                break
            for v in range(max(0, (right - a.filter_width) // a.stride_w + 1), a.in_width):
                kw = right - v * a.stride_w
                if kw < 0:
                    break
                at = ((h * a.in_width) + v) * a.in_depth
                x = uint8_pointer(a.q + image * a.image_bytes + at)
                w = int8_pointer(a.w + ((o * a.filter_height + kh) * a.filter_width + kw) * a.in_depth)
                for c in range(a.in_depth):
                    product = np.int32((np.int32(x[c]) - zero_point) * np.int32(w[c]))
                    total += (np.float32(product) * scales[o]) * scale
        if a.bias != 0:
            total += float32_pointer(a.bias)[o]
        y[i] = min(max(total, a.low), a.high)
    return 0
