"""How often each value comes in each row of dense, sparse and ragged tensors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .attributes import DataType
from .axis import rows_of, scalar, vector
from .dtypes import INDICES, NUMBERS, numpy_dtype
from .kernel import checked_shape
from .registry import kernel
from .sparse_tensor import SparseTensor
from .status import InvalidArgumentError

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, kw_only=True)
class CountAttributes:
    """Values up to maxlength count (all where it is -1), in a result of minlength at the least.

    With binary_output a count is 1 at the most.
    """

    minlength: int
    maxlength: int
    binary_output: bool
    output_type: DataType


def _dense_counts(
    rows: np.ndarray, count: int, values: np.ndarray, bins: int, weights: np.ndarray, binary: bool
) -> np.ndarray:
    """Counts [count, bins] of values that belong to rows; values from bins on are left out."""
    if bins < 0 or np.any(values < 0):
        raise InvalidArgumentError("size and values must not be negative")
    if not binary:
        _check_weights(values, weights)
    made = np.zeros(checked_shape([count, bins], weights.dtype), weights.dtype)
    kept = values < bins
    places = (rows[kept], values[kept])
    if binary:
        made[places] = 1
    else:
        np.add.at(made, places, weights[kept] if weights.size else made.dtype.type(1))
    return made


def _check_weights(values: np.ndarray, weights: np.ndarray) -> None:
    if weights.size and weights.shape != values.shape:
        message = f"weights must be empty or {list(values.shape)}, got {list(weights.shape)}"
        raise InvalidArgumentError(message)


def _sparse_rows(held: SparseTensor) -> tuple[np.ndarray, int | None]:
    """The row of each value, and how many there are: None for a vector, which is one row."""
    if len(held.shape) not in (1, 2):
        raise InvalidArgumentError(f"must have one or two axes, got {list(held.shape)}")
    if len(held.shape) == 1:
        return np.zeros(len(held.values), np.int64), None
    return held.indices[:, 0], held.shape[0]


def _ragged_rows(splits: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, int]:
    """The row of each value, and how many there are.

    Where splits fall, a value is of the first row behind that of the value before that ends after it.
    Source: TensorFlow tensorflow/core/kernels/count_ops.cc, RaggedCount.
    """
    ends, count = vector(splits, "splits"), rows_of(values, "values")
    if len(ends) < 2 or ends[0] != 0 or ends[-1] != count:
        raise InvalidArgumentError(f"splits must go from 0 to {count}, got {list(ends[:16])}")
    return np.searchsorted(np.maximum.accumulate(ends), np.arange(count), "right") - 1, len(ends) - 1


def sparse_bincount(
    indices: np.ndarray,
    values: np.ndarray,
    dense_shape: np.ndarray,
    size: np.ndarray,
    weights: np.ndarray,
    *,
    binary_output: bool,
) -> np.ndarray:
    """How often each of 0 to size - 1 comes, in all of a vector or in each row of a matrix."""
    held, bins = SparseTensor.of(indices, values, dense_shape), scalar(size, "size")
    rows, count = _sparse_rows(held)
    made = _dense_counts(rows, 1 if count is None else count, values, bins, weights, binary_output)
    return made[0] if count is None else made


def ragged_bincount(
    splits: np.ndarray, values: np.ndarray, size: np.ndarray, weights: np.ndarray, *, binary_output: bool
) -> np.ndarray:
    """How often each of 0 to size - 1 comes in each row."""
    rows, count = _ragged_rows(splits, values)
    return _dense_counts(rows, count, values, scalar(size, "size"), weights, binary_output)


def _sparse_counts(
    rows: np.ndarray, count: int | None, values: np.ndarray, weights: np.ndarray, attributes: CountAttributes
) -> Parts:
    """Values that come, with how often: indices [n, 2] (or [n, 1] for no rows), counts and shape."""
    if np.any(values < 0):
        raise InvalidArgumentError("values must not be negative")
    _check_weights(values, weights)
    most = attributes.maxlength
    kept = values < most if most >= 0 else np.ones(values.shape, np.bool_)
    width = max(int(values[kept].max(initial=0)) + 1, attributes.minlength)
    width = most if most >= 0 else width
    pairs = np.stack([rows[kept], values[kept].astype(np.int64)], -1)
    found, which = np.unique(pairs, axis=0, return_inverse=True)
    made = np.zeros(len(found), numpy_dtype(attributes.output_type))
    if attributes.binary_output:
        made[:] = 1
    else:
        added = weights[kept].astype(made.dtype) if weights.size else made.dtype.type(1)
        np.add.at(made, which.reshape(-1), added)
    if count is None:
        return found[:, 1:], made, np.array([width], np.int64)
    return found, made, np.array([count, width], np.int64)


def dense_count_sparse_output(
    values: np.ndarray, weights: np.ndarray, *, attributes: CountAttributes
) -> Parts:
    """Counts of a vector's values, or of each row's."""
    if values.ndim not in (1, 2):
        raise InvalidArgumentError(f"values must be a vector or a matrix, got {list(values.shape)}")
    count = len(values) if values.ndim == 2 else None
    rows = np.repeat(np.arange(count or 1), values.shape[-1])
    _check_weights(values, weights)
    return _sparse_counts(rows, count, values.reshape(-1), weights.reshape(-1), attributes)


def sparse_count_sparse_output(
    indices: np.ndarray,
    values: np.ndarray,
    dense_shape: np.ndarray,
    weights: np.ndarray,
    *,
    attributes: CountAttributes,
) -> Parts:
    """Counts of a sparse vector's values, or of each row's."""
    rows, count = _sparse_rows(SparseTensor.of(indices, values, dense_shape))
    return _sparse_counts(rows, count, values, weights, attributes)


def ragged_count_sparse_output(
    splits: np.ndarray, values: np.ndarray, weights: np.ndarray, *, attributes: CountAttributes
) -> Parts:
    """Counts of each row's values."""
    rows, count = _ragged_rows(splits, values)
    return _sparse_counts(rows, count, values, weights, attributes)


REGISTRATIONS = (
    kernel("SparseBincount", sparse_bincount, T=NUMBERS, Tidx=INDICES),
    kernel("RaggedBincount", ragged_bincount, T=NUMBERS, Tidx=INDICES),
    kernel("DenseCountSparseOutput", dense_count_sparse_output, T=INDICES),
    kernel("SparseCountSparseOutput", sparse_count_sparse_output, T=INDICES),
    kernel("RaggedCountSparseOutput", ragged_count_sparse_output, T=INDICES),
)
