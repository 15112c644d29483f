"""8-bit convolution, rounded in float32."""

from ..requantize import FLOAT_ROUNDING
from .matrix_q8 import indirect_family

kernels = indirect_family("conv_q8", FLOAT_ROUNDING, with_sums=False)
