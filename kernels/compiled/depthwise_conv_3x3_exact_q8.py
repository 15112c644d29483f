"""8-bit depthwise convolution with 3x3 filters, rounded in fixed point."""

from ..requantize import DOUBLE_ROUNDING
from .depthwise_rows_q8 import columns_family

kernels = columns_family("depthwise_conv_3x3_exact_q8", 3, 1, DOUBLE_ROUNDING)
