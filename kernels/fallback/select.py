"""Elements of one of two tensors, by a condition."""

from __future__ import annotations

import numpy as np

from .dtypes import ANY
from .registry import kernel
from .status import InvalidArgumentError


def select(condition: np.ndarray, t: np.ndarray, e: np.ndarray) -> np.ndarray:
    """t where the condition holds, else e: t and e have one shape.

    The condition has it too, or is a scalar, or a vector that chooses along the first axis.
    """
    if t.shape != e.shape:
        message = f"t and e must have one shape, got {list(t.shape)} and {list(e.shape)}"
        raise InvalidArgumentError(f"Select: {message}")
    if condition.shape == t.shape or condition.ndim == 0:
        return np.where(condition, t, e)
    if condition.ndim != 1 or not t.ndim or len(condition) != len(t):
        message = f"condition must be a scalar, a vector for the first axis or of {list(t.shape)}"
        raise InvalidArgumentError(f"Select: {message}, got {list(condition.shape)}")
    return np.where(condition.reshape(-1, *(1,) * (t.ndim - 1)), t, e)


def select_v2(condition: np.ndarray, t: np.ndarray, e: np.ndarray) -> np.ndarray:
    """t where the condition holds, else e, all three broadcast."""
    return np.where(condition, t, e)


REGISTRATIONS = (kernel("Select", select, T=ANY), kernel("SelectV2", select_v2, T=ANY))
