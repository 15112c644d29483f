"""8-bit products of one row, rounded in float32."""

from ..requantize import FLOAT_ROUNDING
from .matrix_q8 import gemv_family

kernels = gemv_family("gemv_q8", FLOAT_ROUNDING)
