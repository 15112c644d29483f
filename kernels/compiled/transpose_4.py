"""Transposition of elements of 4 bytes."""

from ..strided_copy import STRIDED_COPY
from .driver.kernel_source import KernelSources
from .language.memory import uint32_pointer
from .transposition import transposition

kernels = KernelSources()

kernels.add(STRIDED_COPY, "transpose_4")(transposition(uint32_pointer, 4))
