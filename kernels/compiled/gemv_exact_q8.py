"""8-bit products of one row, rounded in fixed point."""

from ..requantize import DOUBLE_ROUNDING
from .matrix_q8 import gemv_family

kernels = gemv_family("gemv_exact_q8", DOUBLE_ROUNDING)
