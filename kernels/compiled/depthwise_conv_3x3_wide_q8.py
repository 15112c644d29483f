"""8-bit depthwise convolution with 3x3 filters of 9-bit weights, rounded in float32."""

from ..requantize import FLOAT_ROUNDING
from .depthwise_rows_q8 import columns_family

kernels = columns_family("depthwise_conv_3x3_wide_q8", 3, 2, FLOAT_ROUNDING)
