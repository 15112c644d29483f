"""Comparisons of float16; the results are bytes of 0 or 1."""

from numba import njit

from ..comparison import COMPARE
from .broadcast import broadcast_kernel
from .compare import COMPARISONS
from .driver.kernel_source import KernelSources
from .language.elements import read_i16, write_u8
from .language.half_bits import from_half

kernels = KernelSources()


@njit(error_model="numpy")
def _nothing(block):
    return 0


def _of_halves(compare):
    @njit(error_model="numpy")
    def combine(x, y, p):
        return compare(from_half(x), from_half(y), p)

    return combine


for _name, _compare in COMPARISONS.items():
    kernels.add(COMPARE, f"{_name}_f16")(broadcast_kernel(read_i16, write_u8, _nothing, _of_halves(_compare)))
