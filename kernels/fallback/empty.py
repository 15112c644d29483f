"""Memory as it is asked for: Empty and DeepCopy."""

from __future__ import annotations

import numpy as np

from .attributes import DataType
from .dtypes import PLAIN, numpy_dtype
from .kernel import zeros
from .registry import kernel
from .status import InvalidArgumentError


def empty(shape: np.ndarray, *, dtype: DataType) -> np.ndarray:
    """A tensor of the shape; zeros also where TensorFlow leaves the memory as it finds it."""
    if shape.ndim != 1:
        raise InvalidArgumentError(f"Empty: shape must be a vector, got {list(shape.shape)}")
    return zeros(shape.tolist(), numpy_dtype(dtype))


def deep_copy(x: np.ndarray) -> np.ndarray:
    """x in memory of its own."""
    return x.copy()


REGISTRATIONS = (kernel("Empty", empty), kernel("DeepCopy", deep_copy, T=PLAIN))
