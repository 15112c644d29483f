"""Floored division of int8 and int16."""

import numpy as np

from ..binary_math import BINARY_MATH, DIVISION_BY_ZERO
from .driver.kernel_source import KernelSources
from .floored import checked, floored, not_zero
from .language.elements import read_i8, read_i16, write_i8, write_i16

kernels = KernelSources()

for _suffix, _read, _write, _width in (
    ("i8", read_i8, write_i8, np.int8),
    ("i16", read_i16, write_i16, np.int16),
):
    for _name, _combine in floored(_width):
        kernels.add(BINARY_MATH, f"{_name}_{_suffix}")(
            checked(_read, _write, _combine, not_zero, DIVISION_BY_ZERO)
        )
