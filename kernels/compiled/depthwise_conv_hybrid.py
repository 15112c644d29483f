"""Depthwise convolution of quantized images and int8 weights; float32 outputs."""

from ..requantize import HYBRID
from .depthwise_rows_q8 import any_family

kernels = any_family("depthwise_conv_hybrid", HYBRID)
