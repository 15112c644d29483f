"""8-bit matrix products, rounded in float32."""

from ..requantize import FLOAT_ROUNDING
from .matrix_q8 import gemm_family

kernels = gemm_family("gemm_q8", FLOAT_ROUNDING, with_sums=False)
