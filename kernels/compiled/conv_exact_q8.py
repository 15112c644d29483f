"""8-bit convolution, rounded in fixed point."""

from ..requantize import DOUBLE_ROUNDING
from .matrix_q8 import indirect_family

kernels = indirect_family("conv_exact_q8", DOUBLE_ROUNDING, with_sums=True)
