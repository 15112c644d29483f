"""Pooling of int16."""

from ..pool import POOL_Q8
from .driver.kernel_source import KernelSources
from .language.elements import write_i16
from .pool_window import max_window_i16, sum_window_i16
from .pooling import average_pool_q8, max_pool

kernels = KernelSources()

kernels.add(POOL_Q8, "max_pool_i16")(max_pool(max_window_i16, 2))
kernels.add(POOL_Q8, "average_pool_i16")(average_pool_q8(sum_window_i16, write_i16, 2))
