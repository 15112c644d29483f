"""Pooling of float32."""

from ..pool import POOL_F32
from .driver.kernel_source import KernelSources
from .pool_row import average_row_f32, max_row_f32
from .pool_window import average_window_f32, max_window_f32, root_mean_square_window_f32
from .pooling import max_pool_rows, mean_pool_f32, mean_pool_rows_f32

kernels = KernelSources()

kernels.add(POOL_F32, "max_pool_f32")(max_pool_rows(max_window_f32, max_row_f32, 4))
kernels.add(POOL_F32, "average_pool_f32")(mean_pool_rows_f32(average_window_f32, average_row_f32))
kernels.add(POOL_F32, "l2_pool_f32")(mean_pool_f32(root_mean_square_window_f32))
