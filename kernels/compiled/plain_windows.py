"""Plain loops of convolutions: an output is a sum over the taps at which it meets the input.

Each kernel is made of how elements meet, what a meeting adds, and how a sum becomes an output.
"""

import numpy as np
from numba import carray, njit

from ..contraction.blocks import PLAIN_HYBRID, PLAIN_Q8, ROW_QUANTIZATION, TRANSPOSE_CONV_PLAIN
from ..requantize import DOUBLE_ROUNDING, FLOAT_ROUNDING, UPWARD_ROUNDING
from .driver.kernel_source import KernelSources
from .language.memory import (
    float32_pointer,
    float64_pointer,
    int8_pointer,
    int16_pointer,
    int32_pointer,
    int64_pointer,
    record_pointer,
    uint8_pointer,
)
from .requantize import (
    multiply_wide_by_quantized_multiplier,
    requantize,
    requantize_double_rounding,
    requantize_float,
    requantize_rounding_up,
)

kernels = KernelSources()
_quantization_at = record_pointer(ROW_QUANTIZATION)


# --- How outputs meet inputs


@njit(error_model="numpy")
def taps_forward(out, taps, stride, pad):
    """First tap, where they end, and the step, of an output of a convolution."""
    return 0, taps, 1


@njit(error_model="numpy")
def meet_forward(out, tap, stride, dilation, pad):
    """The index, perhaps outside, of the input that an output sees through a tap."""
    return out * stride - pad + tap * dilation


@njit(error_model="numpy")
def taps_backward(out, taps, stride, pad):
    """Of a transposed one: the last taps come first, so that inputs come in rising order."""
    first = (out + pad) % stride
    return first + (taps - 1 - first) // stride * stride, -1, -stride


@njit(error_model="numpy")
def meet_backward(out, tap, stride, dilation, pad):
    return (out + pad - tap) // stride


FORWARD, BACKWARD = (taps_forward, meet_forward), (taps_backward, meet_backward)


def window_kernel(meeting, start, add, finish):
    """y element by element, out channel fastest.

    start(a, o) is a sum's begin; add(a, total, image, at, o, tap) is the sum with what an output of
    channel o sees through a tap, `at` being where, in elements of the image; finish(a, i, image, o, total)
    writes element i.
    """
    taps_of, meet = meeting

    def kernel(a, chunk, chunks):
        depth, group_depth = a.out_depth, a.out_depth // a.groups
        outputs = a.batch * a.out_height * a.out_width * depth
        begin, end = outputs * chunk // chunks, outputs * (chunk + 1) // chunks
        for pixel in range(begin // depth, (end + depth - 1) // depth):
            row = pixel // a.out_width
            image = row // a.out_height
            out_h, out_w = row - image * a.out_height, pixel - row * a.out_width
            rows = taps_of(out_h, a.filter_height, a.stride_h, a.pad_top)
            columns = taps_of(out_w, a.filter_width, a.stride_w, a.pad_left)
            for o in range(max(begin - pixel * depth, 0), min(end - pixel * depth, depth)):
                first = o // group_depth * a.filter_depth
                total = start(a, o)
                for kh in range(rows[0], rows[1], rows[2]):
                    h = meet(out_h, kh, a.stride_h, a.dilation_h, a.pad_top)
                    if h < 0 or h >= a.in_height:
                        continue
                    for kw in range(columns[0], columns[1], columns[2]):
                        v = meet(out_w, kw, a.stride_w, a.dilation_w, a.pad_left)
                        if v < 0 or v >= a.in_width:
                            continue
                        at = (h * a.in_width + v) * a.in_depth + first
                        total = add(a, total, image, at, o, kh * a.filter_width + kw)
                finish(a, pixel * depth + o, image, o, total)
        return 0

    return kernel


# --- What a tap's weights are multiplied with: a run of the depth, or one element of depthwise filters


@njit(error_model="numpy")
def run_of_depth(a, o, tap):
    """Where an output channel's weights of a tap begin, and how many they are."""
    return (o * a.filter_height * a.filter_width + tap) * a.filter_depth, a.filter_depth


@njit(error_model="numpy")
def one_element(a, o, tap):
    return tap * a.out_depth + o, 1


# --- 8 bits


@njit(error_model="numpy")
def bias_i32(a, o):
    return int32_pointer(a.bias)[o] if a.bias != 0 else np.int32(0)


@njit(error_model="numpy")
def finish_q8(a, i, image, o, total):
    late = a.rounding == UPWARD_ROUNDING and o >= a.upward_channels
    uint8_pointer(a.y)[i] = np.uint8(
        requantize(
            total,
            DOUBLE_ROUNDING if late else a.rounding,
            int32_pointer(a.multipliers)[o],
            int32_pointer(a.shifts)[o],
            float32_pointer(a.float_scales)[o],
            float64_pointer(a.real_scales)[o],
            a.y_zero_point,
            a.lowest,
            a.highest,
        )
    )


def add_q8(weights):
    @njit(error_model="numpy")
    def add(a, total, image, at, o, tap):
        w_at, depth = weights(a, o, tap)
        # Views that start where the tap does: with them LLVM makes vectors of the loop.
        xs = carray(uint8_pointer(a.x + image * a.in_height * a.in_width * a.in_depth + at), depth)
        ws = carray(uint8_pointer(a.w + w_at), depth)
        flip, x_offset, w_offset = np.int32(a.flip), np.int32(a.x_offset), np.int32(a.w_offset)
        part = np.int32(0)
        for c in range(depth):
            value = np.int32(np.int32(xs[c]) ^ flip) - x_offset
            weight = np.int32(np.int32(ws[c]) ^ flip) - w_offset
            part = np.int32(part + np.int32(value * weight))
        return np.int32(total + part)

    return add


for _name, _weights in (("conv_plain_q8", run_of_depth), ("depthwise_conv_plain_q8", one_element)):
    kernels.add(PLAIN_Q8, _name)(window_kernel(FORWARD, bias_i32, add_q8(_weights), finish_q8))


# --- float32 by int8: images are quantized


@njit(error_model="numpy")
def no_sum(a, o):
    return np.int32(0)


def add_hybrid(weights):
    @njit(error_model="numpy")
    def add(a, total, image, at, o, tap):
        w_at, depth = weights(a, o, tap)
        qs = carray(uint8_pointer(a.q + image * a.image_bytes + at), depth)
        ws = carray(int8_pointer(a.w + w_at), depth)
        zero_point = carray(_quantization_at(a.quantization), a.batch)[image].zero_point
        part = np.int32(0)
        for c in range(depth):
            value = np.int32(np.int32(qs[c]) - zero_point)
            part = np.int32(part + np.int32(value * np.int32(ws[c])))
        return np.int32(total + part)

    return add


@njit(error_model="numpy")
def write_clamped(a, i, o, value):
    if a.bias != 0:
        value = value + float32_pointer(a.bias)[o]
    float32_pointer(a.y)[i] = min(max(value, a.low), a.high)


@njit(error_model="numpy")
def finish_hybrid(a, i, image, o, total):
    image_scale = carray(_quantization_at(a.quantization), a.batch)[image].scale
    scale = float32_pointer(a.scales)[o]
    if a.channel_first != 0:
        write_clamped(a, i, o, (np.float32(total) * scale) * image_scale)
    else:
        write_clamped(a, i, o, np.float32(total) * (scale * image_scale))


for _name, _weights in (("conv_plain_hybrid", run_of_depth), ("depthwise_conv_plain_hybrid", one_element)):
    kernels.add(PLAIN_HYBRID, _name)(window_kernel(FORWARD, no_sum, add_hybrid(_weights), finish_hybrid))


@njit(error_model="numpy")
def no_float_sum(a, o):
    return np.float32(0)


@njit(error_model="numpy")
def add_scaled(a, total, image, at, o, tap):
    """Each product is scaled for itself, in the reference's order."""
    w_at, depth = run_of_depth(a, o, tap)
    x, w = uint8_pointer(a.q + image * a.image_bytes + at), int8_pointer(a.w + w_at)
    quantization = carray(_quantization_at(a.quantization), a.batch)[image]
    zero_point, scale = np.int32(quantization.zero_point), float32_pointer(a.scales)[o]
    for c in range(depth):
        product = np.int32((np.int32(x[c]) - zero_point) * np.int32(w[c]))
        total += (np.float32(product) * scale) * quantization.scale
    return total


@njit(error_model="numpy")
def finish_float(a, i, image, o, total):
    write_clamped(a, i, o, total)


kernels.add(PLAIN_HYBRID, "transpose_conv_plain_hybrid")(
    window_kernel(BACKWARD, no_float_sum, add_scaled, finish_float)
)


# --- Transposed, of integers: sums are int64


@njit(error_model="numpy")
def bias_i64(a, o):
    if a.bias == 0:
        return np.int64(0)
    return int64_pointer(a.bias)[o] if a.bias_is_wide else np.int64(int32_pointer(a.bias)[o])


@njit(error_model="numpy")
def rounded(a, i, o, total):
    """The output (int32) that a sum becomes."""
    zero_point, lowest, highest = a.y_zero_point, a.lowest, a.highest
    if a.rounding == FLOAT_ROUNDING:
        return requantize_float(total, float32_pointer(a.float_scales)[o], zero_point, lowest, highest)
    multiplier, shift = int32_pointer(a.multipliers)[o], int32_pointer(a.shifts)[o]
    if a.sums_are_wide:
        scaled = multiply_wide_by_quantized_multiplier(total, multiplier, shift)
        return np.int32(min(max(np.int64(scaled) + zero_point, lowest), highest))
    narrow = np.int32(total)
    if a.rounding == UPWARD_ROUNDING and i < a.upward_elements and o < a.upward_channels:
        return requantize_rounding_up(narrow, multiplier, shift, zero_point, lowest, highest)
    return requantize_double_rounding(narrow, multiplier, shift, zero_point, lowest, highest)


def transposed_kernel(x_pointer, w_pointer, x_bytes, output):
    @njit(error_model="numpy")
    def add(a, total, image, at, o, tap):
        w_at, depth = run_of_depth(a, o, tap)
        x = x_pointer(a.x + (image * a.in_height * a.in_width * a.in_depth + at) * x_bytes)
        w = w_pointer(a.w + w_at)
        x_zero_point, w_zero_point = np.int32(a.x_zero_point), np.int32(a.w_zero_point)
        for c in range(depth):
            total += np.int64(np.int32((np.int32(x[c]) - x_zero_point) * (np.int32(w[c]) - w_zero_point)))
        return total

    @njit(error_model="numpy")
    def finish(a, i, image, o, total):
        x_pointer(a.y)[i] = output(rounded(a, i, o, total))

    return window_kernel(BACKWARD, bias_i64, add, finish)


for _name, _types in (
    ("i8", (int8_pointer, int8_pointer, 1, np.int8)),
    ("u8", (uint8_pointer, uint8_pointer, 1, np.uint8)),
    ("i16", (int16_pointer, int8_pointer, 2, np.int16)),
):
    kernels.add(TRANSPOSE_CONV_PLAIN, f"transpose_conv_plain_{_name}")(transposed_kernel(*_types))
