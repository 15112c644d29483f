"""Comparisons of float32 operands; the results are bytes of 0 or 1."""

from numba import njit

from ..comparison import COMPARE
from .broadcast import broadcast_kernel
from .compare import COMPARISONS
from .driver.kernel_source import KernelSources
from .language.elements import read_f32, write_u8

kernels = KernelSources()


@njit(error_model="numpy")
def _nothing(block):
    return 0


for _name, _compare in COMPARISONS.items():
    kernels.add(COMPARE, f"{_name}_f32")(broadcast_kernel(read_f32, write_u8, _nothing, _compare))
