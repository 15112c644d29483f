"""MEAN and SUM of int8 and uint8, in the arithmetic of LiteRT's default (XNNPACK)."""

from collections.abc import Callable

import numpy as np
from numba import njit

from ..reduce import REDUCE_Q8
from .driver.kernel_source import KernelSources
from .language.elements import read_i8, read_u8, write_i8, write_u8
from .pool_window import sum_window_i8, sum_window_u8
from .quantized_sum import sum_kernels
from .row_reduction import total_i8, total_u8

kernels = KernelSources()


@njit(error_model="numpy")
def _affine(block):
    return block.scale, block.offset


def _rounded(lowest: int, highest: int) -> Callable:
    low, high = np.float32(lowest), np.float32(highest)

    @njit(error_model="numpy")
    def finish(total, p):
        scaled = np.float32(total) * p[0] + p[1]
        scaled = low if scaled < low else scaled
        scaled = high if scaled > high else scaled
        return np.int32(np.rint(scaled))

    return finish


for _suffix, _read, _write, _window, _limits, _row in (
    ("i8", read_i8, write_i8, sum_window_i8, (-128, 127), total_i8),
    ("u8", read_u8, write_u8, sum_window_u8, (0, 255), total_u8),
):
    _kernels = sum_kernels(_read, _write, _window, 1, _affine, _rounded(*_limits), _row)
    for _kind, _kernel in _kernels.items():
        kernels.add(REDUCE_Q8, f"sum_{_kind}_{_suffix}")(_kernel)
