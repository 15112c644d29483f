"""8-bit depthwise convolution with 3x3 filters, rounded in float32."""

from ..requantize import FLOAT_ROUNDING
from .depthwise_rows_q8 import columns_family

kernels = columns_family("depthwise_conv_3x3_q8", 3, 1, FLOAT_ROUNDING)
