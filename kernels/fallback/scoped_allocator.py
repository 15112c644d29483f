"""Tensors that stand in one, for collectives: _ScopedAllocator gives the memory, others put them in and take
them out; CollectiveReduce of the one device that there is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...lite.errors import UnsupportedError
from .attributes import DataType, PartialShape
from .dtypes import NUMBERS, numpy_dtype
from .kernel import zeros
from .registry import kernel
from .status import InvalidArgumentError

# Each tensor begins at a multiple of so many bytes, as TensorFlow's allocator has it.
_ALIGNMENT = 64


def field_elements(shape: Sequence[int], item_bytes: int) -> int:
    """How many elements a tensor of the shape takes in the one that holds it."""
    return -(-math.prod(shape) * item_bytes // _ALIGNMENT) * _ALIGNMENT // item_bytes


def scoped_allocator(*, shape: PartialShape, T: DataType) -> np.ndarray:
    """The tensor that holds all others; zeros also where TensorFlow leaves the memory as it finds it."""
    if shape is None or any(size < 0 for size in shape):
        raise InvalidArgumentError(f"_ScopedAllocator: shape must be known, got {shape}")
    return zeros(list(shape), numpy_dtype(T))


def scoped_allocator_concat(
    backing: np.ndarray, inputs: list[np.ndarray], *, shape: PartialShape, reshape: bool
) -> np.ndarray:
    """The inputs, each at its place in a tensor like backing; of the shape if reshape says so."""
    whole = backing.reshape(-1).copy()
    for value, place in zip(inputs, _places(whole, [each.shape for each in inputs]), strict=True):
        whole[place] = value.reshape(-1)
    if reshape and (shape is None or math.prod(shape) != whole.size):
        raise InvalidArgumentError(
            f"_ScopedAllocatorConcat: shape must hold {whole.size} elements, got {shape}"
        )
    return whole.reshape(shape) if reshape and shape is not None else whole


def scoped_allocator_split(
    concat: np.ndarray, split: list[np.ndarray], *, shapes: list[PartialShape]
) -> list[np.ndarray]:
    """The tensors of these shapes in concat."""
    sizes = [tuple(each or ()) for each in shapes]
    if len(sizes) != len(split):
        raise InvalidArgumentError(
            f"_ScopedAllocatorSplit: there must be {len(split)} shapes, got {len(sizes)}"
        )
    whole = concat.reshape(-1)
    return [whole[place].reshape(size) for place, size in zip(_places(whole, sizes), sizes, strict=True)]


def _places(whole: np.ndarray, shapes: Sequence[tuple[int, ...]]) -> list[slice]:
    places, at = [], 0
    for shape in shapes:
        count = math.prod(shape)
        if min(shape, default=0) < 0 or at + count > whole.size:
            message = f"{whole.size} elements must hold tensors of {[list(each) for each in shapes]}"
            raise InvalidArgumentError(f"_ScopedAllocator: {message}")
        places.append(slice(at, at + count))
        at += field_elements(shape, whole.itemsize)
    return places


def collective_reduce(input: np.ndarray, *, group_size: int, merge_op: str, final_op: str) -> np.ndarray:
    """What the devices of a group give, put together: of a group of one, the input.

    UnsupportedError for larger groups: the others are in other processes, or on devices that are not there.
    """
    if group_size < 1 or merge_op not in ("Min", "Max", "Mul", "Add") or final_op not in ("Id", "Div"):
        message = f"group_size {group_size}, merge_op {merge_op!r} and final_op {final_op!r}"
        raise InvalidArgumentError(f"CollectiveReduce: must be of a group, got {message}")
    if group_size > 1:
        message = f"group_size must be 1, got {group_size}: the others of the group are not in this process"
        raise UnsupportedError(f"CollectiveReduce: {message}; run the graph of one device alone")
    return input


REGISTRATIONS = (
    kernel("CollectiveReduce", collective_reduce, T=NUMBERS),
    kernel("_ScopedAllocator", scoped_allocator, T=NUMBERS),
    kernel("_ScopedAllocatorConcat", scoped_allocator_concat, T=NUMBERS),
    kernel("_ScopedAllocatorSplit", scoped_allocator_split, T=NUMBERS),
)
