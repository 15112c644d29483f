"""Ops that give their inputs on as they are."""

from __future__ import annotations

import numpy as np

from .dtypes import ANY
from .registry import kernel


def identity(x: np.ndarray) -> np.ndarray:
    """x itself, any type and shape."""
    return x


def identity_n(inputs: list[np.ndarray]) -> list[np.ndarray]:
    """The inputs themselves, of any types."""
    return inputs


def no_op() -> None:
    """Nothing: it only orders other nodes."""


REGISTRATIONS = (
    *(kernel(op, identity, T=ANY) for op in ("Identity", "StopGradient", "PreventGradient", "Snapshot")),
    kernel("IdentityN", identity_n, T=ANY),
    kernel("NoOp", no_op),
)
