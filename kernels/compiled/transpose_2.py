"""Transposition of elements of 2 bytes."""

from ..strided_copy import STRIDED_COPY
from .driver.kernel_source import KernelSources
from .language.memory import uint16_pointer
from .transposition import transposition

kernels = KernelSources()

kernels.add(STRIDED_COPY, "transpose_2")(transposition(uint16_pointer, 2))
