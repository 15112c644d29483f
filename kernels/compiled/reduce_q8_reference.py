"""MEAN and SUM of quantized integers, in the arithmetic of TFLite's reference kernels."""

from collections.abc import Callable

import numpy as np
from numba import njit

from ..reduce import REDUCE_Q8_REFERENCE
from .driver.kernel_source import KernelSources
from .language.elements import read_i8, read_i16, read_u8, write_i8, write_i16, write_u8
from .pool_window import sum_window_i8, sum_window_i16, sum_window_u8
from .quantized_sum import sum_kernels
from .requantize import requantize_double_rounding

kernels = KernelSources()


@njit(error_model="numpy")
def _fixed(block):
    return block.bias, block.multiplier, block.shift, block.zero


def _requantized(lowest: int, highest: int) -> Callable:
    @njit(error_model="numpy")
    def finish(total, p):
        bias, multiplier, shift, zero = p
        return requantize_double_rounding(np.int32(total - bias), multiplier, shift, zero, lowest, highest)

    return finish


for _suffix, _read, _write, _window, _itemsize, _limits in (
    ("i8", read_i8, write_i8, sum_window_i8, 1, (-128, 127)),
    ("u8", read_u8, write_u8, sum_window_u8, 1, (0, 255)),
    ("i16", read_i16, write_i16, sum_window_i16, 2, (-32768, 32767)),
):
    for _kind, _kernel in sum_kernels(
        _read, _write, _window, _itemsize, _fixed, _requantized(*_limits)
    ).items():
        kernels.add(REDUCE_Q8_REFERENCE, f"sum_reference_{_kind}_{_suffix}")(_kernel)
