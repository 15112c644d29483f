"""CONV_3D and CONV_3D_TRANSPOSE, float32: what each tap of an output point adds to it."""

import numpy as np
from numba import njit

from ..contraction.blocks import CONV_3D
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, write_f32
from .language.memory import float32_pointer
from .recurrent import accumulate_f32

kernels = KernelSources()


@njit(error_model="numpy")
def forward(a, axis, out, tap):
    """The input index that an output meets at a tap, -1 for none."""
    at = out * a.stride[axis] - a.pad[axis] + tap * a.dilation[axis]
    return at if 0 <= at < a.in_size[axis] else -1


@njit(error_model="numpy")
def backward(a, axis, out, tap):
    """The input index that reaches an output through a tap, -1 for none."""
    at = out + a.pad[axis] - tap * a.dilation[axis]
    if at < 0 or at % a.stride[axis] != 0:
        return np.int64(-1)
    at //= a.stride[axis]
    return at if at < a.in_size[axis] else -1


@njit(error_model="numpy")
def add_matrix_product(a, y, at, tap):
    """y += the input at `at` times the tap's weights."""
    weights = a.w + 4 * tap * a.in_channels * a.out_channels
    accumulate_f32(y, weights, a.x + 4 * at * a.in_channels, a.in_channels, a.out_channels)


@njit(error_model="numpy")
def add_product(a, y, at, tap):
    """y += the product with the tap's weights, which x holds already."""
    product = a.x + 4 * (at * a.filter_size[0] * a.filter_size[1] * a.filter_size[2] + tap) * a.out_channels
    values = float32_pointer(y)
    for i in range(a.out_channels):
        write_f32(y, i, values[i] + read_f32(product, i))


def convolution(meet, add):
    """A kernel around the rule by which outputs meet inputs, and what a meeting adds."""

    @njit(error_model="numpy")
    def point(a, b, od, oh, ow, y):
        channels = a.out_channels
        for i in range(channels):
            write_f32(y, i, read_f32(a.bias, i) if a.bias else np.float32(0))
        for kd in range(a.filter_size[0]):
            d = meet(a, 0, od, kd)
            if d < 0:
                continue
            for kh in range(a.filter_size[1]):
                h = meet(a, 1, oh, kh)
                if h < 0:
                    continue
                for kw in range(a.filter_size[2]):
                    w = meet(a, 2, ow, kw)
                    if w < 0:
                        continue
                    at = ((b * a.in_size[0] + d) * a.in_size[1] + h) * a.in_size[2] + w
                    tap = (kd * a.filter_size[1] + kh) * a.filter_size[2] + kw
                    add(a, y, at, tap)
        values = float32_pointer(y)
        for i in range(channels):
            write_f32(y, i, np.float32(min(max(values[i], a.low), a.high)))

    def kernel(a, chunk, chunks):
        rows = a.batch * a.out_size[0] * a.out_size[1]
        for row in range(rows * chunk // chunks, rows * (chunk + 1) // chunks):
            oh, rest = row % a.out_size[1], row // a.out_size[1]
            od, b = rest % a.out_size[0], rest // a.out_size[0]
            for ow in range(a.out_size[2]):
                point(a, b, od, oh, ow, a.y + 4 * (row * a.out_size[2] + ow) * a.out_channels)
        return 0

    return kernel


kernels.add(CONV_3D, "conv_3d_f32")(convolution(forward, add_matrix_product))
kernels.add(CONV_3D, "conv_3d_transpose_f32")(convolution(backward, add_product))
