"""Pooling of uint8."""

from ..pool import POOL_Q8
from .driver.kernel_source import KernelSources
from .language.elements import write_u8
from .pool_row import max_row_u8
from .pool_window import max_window_u8, sum_window_u8
from .pooling import average_pool_q8, max_pool_rows

kernels = KernelSources()

kernels.add(POOL_Q8, "max_pool_u8")(max_pool_rows(max_window_u8, max_row_u8, 1))
kernels.add(POOL_Q8, "average_pool_u8")(average_pool_q8(sum_window_u8, write_u8, 1))
