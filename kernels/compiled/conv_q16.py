"""Convolutions and matrix products of int16 by int8."""

from .filter_loop_q16 import filter_family
from .language.memory import int8_pointer

kernels = filter_family("conv_q16", int8_pointer, 1, 256)
