"""Shapes that are not wholly known, as tensors give them and merged with others."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .attributes import PartialShape
from .status import InvalidArgumentError


def shape_from(op: str, tensor: np.ndarray) -> PartialShape:
    """The shape that a tensor of sizes says: -1 is a size that is not known, the scalar -1 no shape at all.

    Source: TensorFlow tensorflow/core/kernels/tensor_list.cc, TensorShapeFromTensor.
    """
    if tensor.ndim == 0:
        if int(tensor) != -1:
            raise InvalidArgumentError(f"{op}: a scalar element_shape must be -1, got {int(tensor)}")
        return None
    if tensor.ndim != 1 or np.any(tensor < -1):
        raise InvalidArgumentError(
            f"{op}: element_shape must be a vector of sizes or -1, got {tensor.tolist()}"
        )
    return tuple(tensor.tolist())


def merged(op: str, a: PartialShape, b: PartialShape) -> PartialShape:
    """The shape that both say together; InvalidArgumentError when they say different things."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b) or any(n != m and -1 not in (n, m) for n, m in zip(a, b, strict=True)):
        raise InvalidArgumentError(f"{op}: shapes must agree, got {in_words(a)} and {in_words(b)}")
    return tuple(max(n, m) for n, m in zip(a, b, strict=True))


def merged_with(op: str, shape: PartialShape, others: Iterable[tuple[int, ...]]) -> PartialShape:
    """The shape and those of all others together."""
    for other in others:
        shape = merged(op, shape, other)
    return shape


def known(op: str, shape: PartialShape, what: str) -> tuple[int, ...]:
    """The shape, which must be wholly known; what says where it matters."""
    if shape is None or -1 in shape:
        raise InvalidArgumentError(f"{op}: {what} must have a shape that is known, got {in_words(shape)}")
    return shape


def in_words(shape: PartialShape) -> str:
    if shape is None:
        return "an unknown shape"
    return f"[{', '.join('?' if size < 0 else str(size) for size in shape)}]"
