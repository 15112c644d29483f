"""Ops that give their inputs on as they are, and ops that give memory: Empty and DeepCopy."""

from __future__ import annotations

import numpy as np

from .attributes import DataType
from .dtypes import ANY, PLAIN, numpy_dtype
from .kernel import zeros
from .registry import kernel
from .status import InvalidArgumentError


def identity(x: np.ndarray) -> np.ndarray:
    """x itself, any type and shape."""
    return x


def identity_n(inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The inputs themselves, of any types."""
    return inputs


def no_op() -> None:
    """Nothing: it only orders other nodes."""


def empty(shape: np.ndarray, *, dtype: DataType) -> np.ndarray:
    """A tensor of the shape; zeros also where TensorFlow leaves the memory as it finds it."""
    if shape.ndim != 1:
        raise InvalidArgumentError(f"Empty: shape must be a vector, got {list(shape.shape)}")
    return zeros(shape.tolist(), numpy_dtype(dtype))


def deep_copy(x: np.ndarray) -> np.ndarray:
    """x in memory of its own."""
    return x.copy()


REGISTRATIONS = (
    *(
        kernel(op, identity, T=ANY)
        for op in (
            *("Identity", "StopGradient", "PreventGradient", "Snapshot", "DebugGradientIdentity"),
            *("GuaranteeConst", "_CopyFromGpuToHost", "_CopyFromHostToGpu"),
        )
    ),
    kernel("IdentityN", identity_n, T=ANY),
    kernel("NoOp", no_op),
    kernel("Empty", empty),
    kernel("DeepCopy", deep_copy, T=PLAIN),
)
