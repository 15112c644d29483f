"""Pooling of int8."""

from ..pool import POOL_Q8
from .driver.kernel_source import KernelSources
from .language.elements import write_i8
from .pool_row import max_row_i8
from .pool_window import max_window_i8, sum_window_i8
from .pooling import average_pool_q8, max_pool_rows

kernels = KernelSources()

kernels.add(POOL_Q8, "max_pool_i8")(max_pool_rows(max_window_i8, max_row_i8, 1))
kernels.add(POOL_Q8, "average_pool_i8")(average_pool_q8(sum_window_i8, write_i8, 1))
