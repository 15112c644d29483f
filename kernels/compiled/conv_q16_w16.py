"""Matrix products of int16 by int16."""

from .filter_loop_q16 import filter_family
from .language.memory import int16_pointer

kernels = filter_family("conv_q16_w16", int16_pointer, 2, 1)
