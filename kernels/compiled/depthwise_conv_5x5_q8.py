"""8-bit depthwise convolution with 5x5 filters, rounded in float32."""

from ..requantize import FLOAT_ROUNDING
from .depthwise_rows_q8 import columns_family

kernels = columns_family("depthwise_conv_5x5_q8", 5, 1, FLOAT_ROUNDING)
