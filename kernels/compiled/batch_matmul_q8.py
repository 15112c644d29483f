"""8-bit products of pairs of matrices, rounded in float32."""

from ..requantize import FLOAT_ROUNDING
from .matrices_q8 import batch_family

kernels = batch_family("batch_matmul_q8", FLOAT_ROUNDING, with_sums=False)
