"""8-bit depthwise convolution with any filter, rounded in float32."""

from ..requantize import FLOAT_ROUNDING
from .depthwise_rows_q8 import any_family

kernels = any_family("depthwise_conv_q8", FLOAT_ROUNDING)
