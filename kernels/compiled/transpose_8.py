"""Transposition of elements of 8 bytes."""

from ..strided_copy import STRIDED_COPY
from .family import KernelFamily
from .memory import uint64_pointer
from .transposition import transposition

kernels = KernelFamily()

kernels.add(STRIDED_COPY, "transpose_8")(transposition(uint64_pointer, 8))
