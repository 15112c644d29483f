"""Comparisons of two tensors, broadcast against each other, and logic: the results are bool."""

from __future__ import annotations

import numpy as np

from .dtypes import NUMBERS, PLAIN, REAL
from .registry import kernel
from .status import InvalidArgumentError


def _mismatched(x: np.ndarray, y: np.ndarray) -> bool:
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return True
    return False


def equal(x: np.ndarray, y: np.ndarray, *, incompatible_shape_error: bool) -> np.ndarray:
    """Whether elements are equal; False [] for shapes that cannot be, where these are no error."""
    if not incompatible_shape_error and _mismatched(x, y):
        return np.array(False)
    return np.asarray(np.equal(x, y), np.bool_)


def not_equal(x: np.ndarray, y: np.ndarray, *, incompatible_shape_error: bool) -> np.ndarray:
    """Whether elements differ; True [] for shapes that cannot be equal, where these are no error."""
    if not incompatible_shape_error and _mismatched(x, y):
        return np.array(True)
    return np.asarray(np.not_equal(x, y), np.bool_)


def approximate_equal(x: np.ndarray, y: np.ndarray, *, tolerance: float) -> np.ndarray:
    """Whether |x - y| < tolerance; x and y have one shape."""
    if x.shape != y.shape:
        message = f"x and y must have one shape, got {list(x.shape)} and {list(y.shape)}"
        raise InvalidArgumentError(f"ApproximateEqual: {message}")
    return np.asarray(np.abs(x - y) < x.dtype.type(tolerance))


REGISTRATIONS = (
    kernel("Equal", equal, T=PLAIN),
    kernel("NotEqual", not_equal, T=PLAIN),
    kernel("Less", np.less, T=REAL),
    kernel("LessEqual", np.less_equal, T=REAL),
    kernel("Greater", np.greater, T=REAL),
    kernel("GreaterEqual", np.greater_equal, T=REAL),
    kernel("ApproximateEqual", approximate_equal, T=NUMBERS),
    kernel("LogicalAnd", np.logical_and),
    kernel("LogicalOr", np.logical_or),
)
