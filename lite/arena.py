"""Blocks of memory that tensors live in."""

from __future__ import annotations

import math

import numpy as np

from .available_memory import SMALL_BYTES, check_room
from .errors import PrepareError
from .string_tensor import OBJECT_BYTES
from .tensor import OVERREAD_BYTES, Shape, Tensor

ALIGNMENT = 64


def check_room_for(tensor: Tensor, shape: Shape) -> None:
    """PrepareError, naming the tensor, when one of that shape has no room in memory.

    Asked before anything is made for the shape: tables and packed weights can be as large.
    """
    nbytes = tensor.nbytes_of(shape) if tensor.has_fixed_size else math.prod(shape) * OBJECT_BYTES
    if nbytes > SMALL_BYTES:
        try:
            check_room(nbytes)
        except PrepareError as error:
            raise PrepareError(f"tensor {tensor.index} {tensor!r}: shape {shape}: {error}") from error


def allocate(nbytes: int) -> np.ndarray:
    """Zeroed memory, flat uint8, 64-byte aligned, with OVERREAD_BYTES readable after its end.

    Raises PrepareError when the machine does not have that much left.
    """
    check_room(nbytes)
    try:
        memory = np.zeros(nbytes + ALIGNMENT + OVERREAD_BYTES, np.uint8)
    except MemoryError as error:
        raise PrepareError(f"memory: could not allocate {nbytes:,} bytes") from error
    start = -memory.__array_interface__["data"][0] % ALIGNMENT
    return memory[start : start + nbytes]
