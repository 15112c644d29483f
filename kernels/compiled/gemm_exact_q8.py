"""8-bit matrix products, rounded in fixed point."""

from ..requantize import DOUBLE_ROUNDING
from .matrix_q8 import gemm_family

kernels = gemm_family("gemm_exact_q8", DOUBLE_ROUNDING, with_sums=True)
