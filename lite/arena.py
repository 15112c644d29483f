"""Blocks of memory that tensors live in."""

from __future__ import annotations

import os
from functools import cache

import numpy as np

from .errors import PrepareError
from .tensor import OVERREAD_BYTES

ALIGNMENT = 64


@cache
def _physical_bytes() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 1 << 62


def allocate(nbytes: int) -> np.ndarray:
    """Zeroed memory, flat uint8, 64-byte aligned, with OVERREAD_BYTES readable after its end.

    Raises PrepareError when the machine does not have that much.
    """
    if nbytes > _physical_bytes():
        raise PrepareError(f"memory: the tensors need {nbytes:,} bytes, more than the machine has")
    try:
        memory = np.zeros(nbytes + ALIGNMENT + OVERREAD_BYTES, np.uint8)
    except MemoryError as error:
        raise PrepareError(f"memory: could not allocate {nbytes:,} bytes") from error
    start = -memory.__array_interface__["data"][0] % ALIGNMENT
    return memory[start : start + nbytes]
