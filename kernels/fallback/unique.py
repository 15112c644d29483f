"""Each element once, in the order in which they come."""

from __future__ import annotations

import math

import numpy as np

from .attributes import DataType
from .axis import axes_of
from .dtypes import INDICES, PLAIN, numpy_dtype
from .registry import kernel
from .status import InvalidArgumentError


def _firsts(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Places of first rows, which of them each row is, and how often each comes."""
    numbers: dict[object, int] = {}
    places: list[int] = []
    which = np.empty(len(rows), np.int64)
    # Equal rows have equal bytes; strings are themselves.
    keys: list[object] = [tuple(row) for row in rows.tolist()] if rows.dtype.kind == "O" else keys_of(rows)
    for i, key in enumerate(keys):
        number = numbers.setdefault(key, len(places))
        if number == len(places):
            places.append(i)
        which[i] = number
    return np.array(places, np.int64), which, np.bincount(which, minlength=len(places))


def keys_of(rows: np.ndarray) -> list[object]:
    """For each row of numbers what is equal for those rows that TensorFlow takes for the same."""
    if rows.dtype.kind in "biu":
        return [row.tobytes() for row in np.ascontiguousarray(rows)]
    # Zeros of both signs are equal, but lone ones of 16 bits are found by these; a NaN equals nothing.
    by_bits = rows.dtype.itemsize == 2 and rows.shape[1] == 1
    plain = np.ascontiguousarray(rows if by_bits else rows + np.zeros((), rows.dtype))
    distinct = (rows != rows).any(-1)
    return [object() if distinct[i] else row.tobytes() for i, row in enumerate(plain)]


def _of_vector(x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if x.ndim != 1:
        raise InvalidArgumentError(f"unique expects a 1D vector, got {list(x.shape)}")
    return _firsts(x[:, None])


def unique(x: np.ndarray, *, out_idx: DataType) -> tuple[np.ndarray, np.ndarray]:
    """Elements of a vector once each, and which of them every element is."""
    places, which, _ = _of_vector(x)
    return x[places], which.astype(numpy_dtype(out_idx))


def unique_with_counts(x: np.ndarray, *, out_idx: DataType) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As unique, and how often each comes."""
    places, which, counts = _of_vector(x)
    out = numpy_dtype(out_idx)
    return x[places], which.astype(out), counts.astype(out)


def _along(x: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    axes = axes_of(axis, x.ndim)
    if len(axes) > 1 or (not axes and x.ndim != 1):
        raise InvalidArgumentError(f"axis must be one, or none for a vector, got {list(axes)}")
    along = axes[0] if axes else 0
    moved = np.moveaxis(x, along, 0)
    rows = moved.reshape(len(moved), math.prod(moved.shape[1:]))
    places, which, counts = _firsts(rows)
    return np.take(x, places, along), which, counts


def unique_v2(x: np.ndarray, axis: np.ndarray, *, out_idx: DataType) -> tuple[np.ndarray, np.ndarray]:
    """Slices of x along the axis once each, and which of them every slice is."""
    values, which, _ = _along(x, axis)
    return values, which.astype(numpy_dtype(out_idx))


def unique_with_counts_v2(
    x: np.ndarray, axis: np.ndarray, *, out_idx: DataType
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """As unique_v2, and how often each comes."""
    values, which, counts = _along(x, axis)
    out = numpy_dtype(out_idx)
    return values, which.astype(out), counts.astype(out)


REGISTRATIONS = (
    kernel("Unique", unique, T=PLAIN, out_idx=INDICES),
    kernel("UniqueWithCounts", unique_with_counts, T=PLAIN, out_idx=INDICES),
    kernel("UniqueV2", unique_v2, T=PLAIN, Taxis=INDICES, out_idx=INDICES),
    kernel("UniqueWithCountsV2", unique_with_counts_v2, T=PLAIN, Taxis=INDICES, out_idx=INDICES),
)
