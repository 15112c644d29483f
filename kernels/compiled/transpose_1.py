"""Transposition of elements of 1 byte."""

from ..strided_copy import STRIDED_COPY
from .family import KernelFamily
from .memory import uint8_pointer
from .transposition import transposition

kernels = KernelFamily()

kernels.add(STRIDED_COPY, "transpose_1")(transposition(uint8_pointer, 1))
