"""Transposed convolution of integers, an output element at a time."""

import numpy as np
from numba import carray, njit

from ..contraction.blocks import TRANSPOSE_CONV_PLAIN
from ..requantize import FLOAT_ROUNDING, UPWARD_ROUNDING
from .driver.kernel_source import KernelSources
from .language.memory import (
    float32_pointer,
    int8_pointer,
    int16_pointer,
    int32_pointer,
    int64_pointer,
    uint8_pointer,
)
from .requantize import (
    multiply_wide_by_quantized_multiplier,
    requantize_double_rounding,
    requantize_float,
    requantize_rounding_up,
)

kernels = KernelSources()


def make_kernel(x_pointer, w_pointer, y_pointer, x_bytes, output):
    @njit(error_model="numpy")
    def dot(x, w, depth, x_zero_point, w_zero_point):
        total = np.int64(0)
        for c in range(depth):
            total += np.int64(np.int32((np.int32(x[c]) - x_zero_point) * (np.int32(w[c]) - w_zero_point)))
        return total

    def transpose_conv(a, chunk, chunks):
        multipliers = carray(int32_pointer(a.multipliers), a.out_depth)
        shifts = carray(int32_pointer(a.shifts), a.out_depth)
        float_scales = carray(float32_pointer(a.float_scales), a.out_depth)
        outputs = a.batch * a.out_height * a.out_width * a.out_depth
        y = carray(y_pointer(a.y), outputs)
        x_zero_point, w_zero_point = np.int32(a.x_zero_point), np.int32(a.w_zero_point)
        for i in range(outputs * chunk // chunks, outputs * (chunk + 1) // chunks):
            pixel = i // a.out_depth
            o = i - pixel * a.out_depth
            row = pixel // a.out_width
            image = row // a.out_height
            bottom = row - image * a.out_height + a.pad_top
            right = pixel - row * a.out_width + a.pad_left
            total = np.int64(0)
            if a.bias != 0:
                total = int64_pointer(a.bias)[o] if a.bias_is_wide else np.int64(int32_pointer(a.bias)[o])
            for kh in range(bottom % a.stride_h, a.filter_height, a.stride_h):
                h = (bottom - kh) // a.stride_h
                if h < 0 or h >= a.in_height:
                    continue
                for kw in range(right % a.stride_w, a.filter_width, a.stride_w):
                    v = (right - kw) // a.stride_w
                    if v < 0 or v >= a.in_width:
                        continue
                    x = x_pointer(a.x + ((image * a.in_height + h) * a.in_width + v) * a.in_depth * x_bytes)
                    w = w_pointer(a.w + ((o * a.filter_height + kh) * a.filter_width + kw) * a.in_depth)
                    total += dot(x, w, a.in_depth, x_zero_point, w_zero_point)
            if a.rounding == FLOAT_ROUNDING:
                value = requantize_float(total, float_scales[o], a.y_zero_point, a.lowest, a.highest)
            elif a.sums_are_wide:
                scaled = multiply_wide_by_quantized_multiplier(total, multipliers[o], shifts[o])
                value = np.int32(min(max(np.int64(scaled) + a.y_zero_point, a.lowest), a.highest))
            elif a.rounding == UPWARD_ROUNDING and i < a.upward_elements and o < a.upward_channels:
                value = requantize_rounding_up(
                    np.int32(total), multipliers[o], shifts[o], a.y_zero_point, a.lowest, a.highest
                )
            else:
                value = requantize_double_rounding(
                    np.int32(total), multipliers[o], shifts[o], a.y_zero_point, a.lowest, a.highest
                )
            y[i] = output(value)
        return 0

    return transpose_conv


for _name, _pointers in (
    ("i8", (int8_pointer, int8_pointer, int8_pointer, 1, np.int8)),
    ("u8", (uint8_pointer, uint8_pointer, uint8_pointer, 1, np.uint8)),
    ("i16", (int16_pointer, int8_pointer, int16_pointer, 2, np.int16)),
):
    kernels.add(TRANSPOSE_CONV_PLAIN, f"transpose_conv_plain_{_name}")(make_kernel(*_pointers))
