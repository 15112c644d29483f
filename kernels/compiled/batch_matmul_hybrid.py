"""Products of pairs of matrices: rows quantized on the fly times int8 columns, to float32."""

from ..requantize import HYBRID
from .matrices_q8 import batch_family

kernels = batch_family("batch_matmul_hybrid", HYBRID, with_sums=True)
