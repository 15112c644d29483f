"""Transposition of elements of 2 bytes."""

from ..strided_copy import STRIDED_COPY
from .family import KernelFamily
from .memory import uint16_pointer
from .transposition import transposition

kernels = KernelFamily()

kernels.add(STRIDED_COPY, "transpose_2")(transposition(uint16_pointer, 2))
