"""From reals to quantized types, in the rounding of TFLite's reference kernels."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from ..quantize import AFFINE
from .affine import affine_kernel
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, read_i32, write_i8, write_i16, write_u8
from .language.vector_math import clamp_f32

kernels = KernelSources()

_HALF = np.float32(0.5)
_ZERO = np.float32(0)
_ONE = np.float32(1)


def _quantize_reference_kernel(write: Any, lowest: int, highest: int) -> Callable:
    """round(x / scale), half away from zero; then plus zero, saturated; NaN becomes the lowest."""

    @njit(error_model="numpy")
    def convert(a, channel, at, count):
        x, y = a.x, a.y
        scale, zero = read_f32(a.scales, channel), read_i32(a.zeros, channel)
        low, high = np.float32(lowest - zero), np.float32(highest - zero)
        for i in range(count):
            scaled = read_f32(x, at + i) / scale
            scaled = clamp_f32(scaled if scaled > low else low, low, high)
            whole = np.trunc(scaled)
            rest = scaled - whole
            whole = whole + (_ONE if rest >= _HALF else _ZERO)
            whole = whole - (_ONE if rest <= -_HALF else _ZERO)
            write(y, at + i, np.int32(np.int32(whole) + zero))

    return affine_kernel(convert)


for _suffix, _write, _limits in (
    ("i8", write_i8, (-128, 127)),
    ("u8", write_u8, (0, 255)),
    ("i16", write_i16, (-32768, 32767)),
):
    kernels.add(AFFINE, f"quantize_reference_{_suffix}")(_quantize_reference_kernel(_write, *_limits))
