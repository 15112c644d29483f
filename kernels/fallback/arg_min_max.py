"""Places of the largest and smallest elements along an axis."""

from __future__ import annotations

import numpy as np

from .attributes import DataType
from .axis import axis_of, scalar
from .dtypes import BOOL, NUMBERS, numpy_dtype
from .half_precision import widened
from .registry import kernel
from .status import InvalidArgumentError


def _checked_axis(x: np.ndarray, axis: np.ndarray) -> int:
    along = axis_of(scalar(axis, "dimension"), x.ndim, "dimension")
    if x.shape[along] == 0:
        raise InvalidArgumentError(f"reduction axis {along} must not be empty, got {list(x.shape)}")
    return along


def _first(x: np.ndarray, along: int, largest: bool) -> np.ndarray:
    """The first place of the extreme; NaNs are never it, unless they come first.

    Source: Eigen's ArgMaxTupleReducer, which replaces what it holds only for a greater value.
    """
    if x.dtype.kind != "f" or not np.isnan(x).any():
        return np.asarray(np.argmax(x, along) if largest else np.argmin(x, along))
    nowhere = -np.inf if largest else np.inf
    held = np.where(np.isnan(x), nowhere, x)
    return np.asarray(np.argmax(held, along) if largest else np.argmin(held, along))


def arg_max(x: np.ndarray, dimension: np.ndarray, *, output_type: DataType) -> np.ndarray:
    """The first place of the largest element along the dimension."""
    along = _checked_axis(x, dimension)
    return _first(widened(x), along, True).astype(numpy_dtype(output_type))


def arg_min(x: np.ndarray, dimension: np.ndarray, *, output_type: DataType) -> np.ndarray:
    """The first place of the smallest element along the dimension."""
    along = _checked_axis(x, dimension)
    return _first(widened(x), along, False).astype(numpy_dtype(output_type))


REGISTRATIONS = (
    kernel("ArgMax", arg_max, T=NUMBERS | BOOL),
    kernel("ArgMin", arg_min, T=NUMBERS | BOOL),
)
