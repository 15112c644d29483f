"""Products of one quantized row and int8 weights; float32 outputs."""

from ..requantize import HYBRID
from .matrix_q8 import gemv_family

kernels = gemv_family("gemv_hybrid", HYBRID)
