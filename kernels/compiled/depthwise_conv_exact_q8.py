"""8-bit depthwise convolution with any filter, rounded in fixed point."""

from ..requantize import DOUBLE_ROUNDING
from .depthwise_rows_q8 import any_family

kernels = any_family("depthwise_conv_exact_q8", DOUBLE_ROUNDING)
