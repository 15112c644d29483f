"""Conversions among quantized types that are too wide for tables."""

from collections.abc import Callable

import numpy as np

from ..quantize import REQUANTIZE
from .driver.kernel_source import KernelSources
from .language.elements import read_i8, read_i16, read_i32, read_u8, write_i8, write_i16, write_i32
from .requantize import requantize_double_rounding
from .unary import unary_kernel

kernels = KernelSources()


def _requantization(block):
    return block.x_zero, block.multiplier, block.shift, block.y_zero


def _requantize(lowest: int, highest: int) -> Callable:
    def convert(x, p):
        x_zero, multiplier, shift, y_zero = p
        offset = np.int32(np.int32(x) - x_zero)
        return requantize_double_rounding(offset, multiplier, shift, y_zero, lowest, highest)

    return convert


for _name, _read, _write, _limits in (
    ("i8_i16", read_i8, write_i16, (-32768, 32767)),
    ("u8_i16", read_u8, write_i16, (-32768, 32767)),
    ("i16_i8", read_i16, write_i8, (-128, 127)),
    ("i16_i16", read_i16, write_i16, (-32768, 32767)),
    ("i16_i32", read_i16, write_i32, (-(2**31), 2**31 - 1)),
    ("i32_i8", read_i32, write_i8, (-128, 127)),
    ("i32_i16", read_i32, write_i16, (-32768, 32767)),
):
    kernels.add(REQUANTIZE, f"requantize_{_name}")(
        unary_kernel(_read, _write, _requantization, _requantize(*_limits))
    )
