"""Products of rows, each quantized for itself, and int8 weights; float32 outputs."""

from ..requantize import HYBRID
from .matrix_q8 import gemm_family

kernels = gemm_family("gemm_hybrid", HYBRID, with_sums=True)
