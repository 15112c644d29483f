"""Transposition of elements of 8 bytes."""

from ..strided_copy import STRIDED_COPY
from .driver.kernel_source import KernelSources
from .language.memory import uint64_pointer
from .transposition import transposition

kernels = KernelSources()

kernels.add(STRIDED_COPY, "transpose_8")(transposition(uint64_pointer, 8))
