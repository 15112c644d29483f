"""What must hold of a shape before a tensor gets it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from .errors import PrepareError, StateError

if TYPE_CHECKING:
    from .tensor import Shape, Tensor

_MOST_BYTES = (1 << 63) - 1


def checked_shape(tensor: Tensor, shape: Iterable[int]) -> Shape:
    """The shape as a tuple of ints; PrepareError when it is negative or needs 2**63 bytes or more."""
    shape = tuple([int(n) for n in shape])
    count = 1
    for n in shape:
        if n < 0:
            raise PrepareError(f"tensor {tensor!r}: dimensions must not be negative, got {shape}")
        count *= max(n, 1)
    if count * 16 > _MOST_BYTES:
        raise PrepareError(f"tensor {tensor!r}: number of elements overflowed, got shape {shape}")
    return shape


def check_strict(tensor: Tensor, shape: Sequence[int]) -> None:
    """StateError unless the shape only fills in what the tensor's signature leaves open (-1)."""
    known = tensor.shape_signature
    fits = len(known) == len(shape) and all(k in (-1, n) for k, n in zip(known, shape, strict=True))
    if not fits:
        raise StateError(
            "ResizeInputTensorStrict only allows mutating unknown dimensions identified by -1. "
            f"Tensor {tensor!r}: got {tuple(shape)}, shape signature {known}"
        )
