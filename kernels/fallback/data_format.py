"""Where channels are: tensors, strides and paddings brought to channels last."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from .status import InvalidArgumentError

# What is found of the attributes of as many convolutions and pools is remembered.
REMEMBERED = 1 << 10
_FIRST = {"NCHW": 4, "NCDHW": 5, "CHANNELS_FIRST": None, "NCW": 3}
_LAST = {"NHWC": 4, "NDHWC": 5, "CHANNELS_LAST": None, "NWC": 3}


def channels_first(op: str, data_format: str) -> bool:
    """Whether channels come before the spatial axes; an error for a layout of another kind."""
    if data_format not in _FIRST and data_format not in _LAST:
        names = ", ".join((*_LAST, *_FIRST))
        raise InvalidArgumentError(f"{op}: data_format must be one of {names}, got {data_format!r}")
    return data_format in _FIRST


def to_last(x: np.ndarray, first: bool) -> np.ndarray:
    """A view of x with its channels last."""
    return np.moveaxis(x, 1, -1) if first else x


def from_last(x: np.ndarray, first: bool) -> np.ndarray:
    """x, its channels last, as it must be given out."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if first else x


def spatial(
    op: str, what: str, values: Sequence[int], first: bool, rank: int, each: int = 1
) -> tuple[int, ...]:
    """An attribute's values, `each` for every axis, at the spatial axes alone.

    At batch and channels they must be 1, or 0 where there are two for each axis. No values at all
    stand for 1 everywhere.
    """
    return _spatial(op, what, tuple(values), first, rank, each)


@lru_cache(REMEMBERED)
def _spatial(
    op: str, what: str, values: tuple[int, ...], first: bool, rank: int, each: int
) -> tuple[int, ...]:
    if each == 1 and not values:
        return (1,) * (rank - 2)
    if len(values) != rank * each:
        raise InvalidArgumentError(f"{op}: {what} must be of length {rank * each}, got {list(values)}")
    channel = 1 if first else rank - 1
    at = [values[axis * each : (axis + 1) * each] for axis in range(rank)]
    neutral = 1 if each == 1 else 0
    if any(value != neutral for value in (*at[0], *at[channel])):
        message = f"{what} must be {neutral} at batch and channels"
        raise InvalidArgumentError(f"{op}: {message}, got {list(values)}")
    return tuple(value for axis in range(1, rank) if axis != channel for value in at[axis])
