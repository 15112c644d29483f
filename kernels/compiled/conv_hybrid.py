"""Convolution of quantized images and int8 weights; float32 outputs."""

from ..requantize import HYBRID
from .matrix_q8 import indirect_family

kernels = indirect_family("conv_hybrid", HYBRID, with_sums=True)
