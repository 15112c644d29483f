"""Transposition of elements of 1 byte."""

from ..strided_copy import STRIDED_COPY
from .driver.kernel_source import KernelSources
from .language.memory import uint8_pointer
from .transposition import transposition

kernels = KernelSources()

kernels.add(STRIDED_COPY, "transpose_1")(transposition(uint8_pointer, 1))
