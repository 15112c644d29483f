"""Axes and scalars that come as tensors, checked."""

from __future__ import annotations

import math

import numpy as np

from .status import InvalidArgumentError, ResourceExhaustedError

# An array may be one number that is repeated at will. Of more than so many no kernel makes Python's.
_MOST_INTEGERS = 1 << 24


def scalar(value: np.ndarray, what: str) -> int:
    """The integer of a scalar (or, as TensorFlow takes it in old graphs, of one element)."""
    if value.size != 1:
        raise InvalidArgumentError(f"{what} must be a scalar, got {list(value.shape)}")
    return int(value.reshape(-1)[0])


def axis_of(value: int, rank: int, what: str = "axis") -> int:
    """The axis, counted from the end when negative, as 0 to rank - 1."""
    if not -rank <= value < rank:
        raise InvalidArgumentError(f"{what} must be in [{-rank}, {rank}), got {value}")
    return value % rank


def axes_of(values: np.ndarray, rank: int, what: str = "axis") -> tuple[int, ...]:
    """The axes, each 0 to rank - 1, none twice."""
    if values.size > rank:
        raise InvalidArgumentError(f"{what} must be at most {rank} different ones, got {values.size:,}")
    axes = tuple(axis_of(value, rank, what) for value in integers(values, what))
    if len(set(axes)) != len(axes):
        raise InvalidArgumentError(f"{what} must not have one twice, got {list(axes)}")
    return axes


def vector(value: np.ndarray, what: str) -> tuple[int, ...]:
    """The integers of a vector."""
    if value.ndim != 1:
        raise InvalidArgumentError(f"{what} must be a vector, got {list(value.shape)}")
    return integers(value, what)


def integers(values: np.ndarray, what: str) -> tuple[int, ...]:
    """The integers of an array, in order; ResourceExhaustedError for millions."""
    if values.size > _MOST_INTEGERS:
        raise ResourceExhaustedError(
            f"{what} must be at most {_MOST_INTEGERS:,} numbers, got {values.size:,}"
        )
    return tuple(int(value) for value in values.reshape(-1))


def flattened(x: np.ndarray, axes: int) -> np.ndarray:
    """x with its first axes as one, whatever is empty."""
    return x.reshape(math.prod(x.shape[:axes]), *x.shape[axes:])


def rows_of(value: np.ndarray, what: str) -> int:
    """How many entries the first axis has."""
    if not value.ndim:
        raise InvalidArgumentError(f"{what} must have an axis, got a scalar")
    return len(value)


def matrix(value: np.ndarray, what: str) -> np.ndarray:
    """The value itself, a matrix."""
    if value.ndim != 2:
        raise InvalidArgumentError(f"{what} must be a matrix, got {list(value.shape)}")
    return value


def row_of(value: np.ndarray, index: int) -> np.ndarray:
    """The entry of the first axis, an array also where value is a vector."""
    return value[index : index + 1].reshape(value.shape[1:])


def element_of(op: str, what: str, value: np.ndarray) -> np.generic:
    """The element of a scalar, of any type."""
    if value.ndim:
        raise InvalidArgumentError(f"{op}: {what} must be a scalar, got {list(value.shape)}")
    found: np.generic = value.flat[0]
    return found
