"""Sets as rows along the last axis of dense or sparse tensors: their sizes, unions, intersections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...lite.string_tensor import string_array
from .dtypes import PLAIN
from .kernel import checked_shape
from .registry import kernel
from .sparse_tensor import SparseTensor
from .status import InvalidArgumentError

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
Rows = dict[tuple[int, ...], set[Any]]

_OPERATIONS: dict[str, Callable[[set[Any], set[Any]], set[Any]]] = {
    "a-b": set.difference,
    "b-a": lambda a, b: b - a,
    "intersection": set.intersection,
    "union": set.union,
}


def _dense_rows(x: np.ndarray) -> Rows:
    if x.ndim < 2:
        raise InvalidArgumentError(f"sets must have two axes or more, got {list(x.shape)}")
    return {group: set(x[group].tolist()) for group in np.ndindex(x.shape[:-1])}


def _sparse_rows(held: SparseTensor) -> Rows:
    if len(held.shape) < 2:
        raise InvalidArgumentError(f"sets must have two axes or more, got {list(held.shape)}")
    rows: Rows = {}
    for place, value in zip(held.indices.tolist(), held.values.tolist(), strict=True):
        rows.setdefault(tuple(place[:-1]), set()).add(value)
    return rows


def _combined(
    a: Rows, b: Rows, groups: tuple[tuple[int, ...], tuple[int, ...]], operation: str, dtype: np.dtype
) -> Parts:
    """Sets of both, group by group, each in order: a sparse tensor."""
    if operation.lower() not in _OPERATIONS:
        raise InvalidArgumentError(
            f"set_operation must be one of {', '.join(_OPERATIONS)}, got {operation!r}"
        )
    if groups[0] != groups[1]:
        raise InvalidArgumentError(f"groups of both sets must agree, got {groups[0]} and {groups[1]}")
    combine = _OPERATIONS[operation.lower()]
    found = list(_sorted_rows(a, b, combine))
    places = [(*group, i) for group, row in found for i in range(len(row))]
    values = [value for _, row in found for value in row]
    longest = max((len(row) for _, row in found), default=0)
    held = string_array(values, [len(values)]) if dtype.kind == "O" else np.array(values, dtype)
    indices = np.array(places, np.int64).reshape(-1, len(groups[0]) + 1)
    return indices, held, np.array([*groups[0], longest], np.int64)


def _sorted_rows(
    a: Rows, b: Rows, combine: Callable[[set[Any], set[Any]], set[Any]]
) -> Iterator[tuple[tuple[int, ...], list[Any]]]:
    for group in sorted({*a, *b}):
        row = combine(a.get(group, set()), b.get(group, set()))
        if row:
            yield group, sorted(row)


def dense_to_dense_set_operation(set1: np.ndarray, set2: np.ndarray, *, set_operation: str) -> Parts:
    """Sets of two dense tensors combined: a-b, b-a, intersection or union."""
    rows = _dense_rows(set1), _dense_rows(set2)
    return _combined(*rows, (set1.shape[:-1], set2.shape[:-1]), set_operation, set1.dtype)


def dense_to_sparse_set_operation(
    set1: np.ndarray,
    set2_indices: np.ndarray,
    set2_values: np.ndarray,
    set2_shape: np.ndarray,
    *,
    set_operation: str,
) -> Parts:
    """Sets of a dense and a sparse tensor combined."""
    other = SparseTensor.of(set2_indices, set2_values, set2_shape)
    groups = (set1.shape[:-1], other.shape[:-1])
    return _combined(_dense_rows(set1), _sparse_rows(other), groups, set_operation, set1.dtype)


def sparse_to_sparse_set_operation(
    set1_indices: np.ndarray,
    set1_values: np.ndarray,
    set1_shape: np.ndarray,
    set2_indices: np.ndarray,
    set2_values: np.ndarray,
    set2_shape: np.ndarray,
    *,
    set_operation: str,
) -> Parts:
    """Sets of two sparse tensors combined."""
    one = SparseTensor.of(set1_indices, set1_values, set1_shape)
    other = SparseTensor.of(set2_indices, set2_values, set2_shape)
    groups = (one.shape[:-1], other.shape[:-1])
    return _combined(_sparse_rows(one), _sparse_rows(other), groups, set_operation, set1_values.dtype)


def set_size(set_indices: np.ndarray, set_values: np.ndarray, set_shape: np.ndarray) -> np.ndarray:
    """How many different elements each set has: int32, the shape without its last axis."""
    held = SparseTensor.of(set_indices, set_values, set_shape)
    made = np.zeros(checked_shape(held.shape[:-1], np.dtype(np.int32)), np.int32)
    for group, row in _sparse_rows(held).items():
        made[group] = len(row)
    return made


def accidental_hits(
    true_classes: np.ndarray, sampled_candidates: np.ndarray, *, num_true: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where a candidate is one of a row's true classes [batch, num_true]: rows, places, and weights to add.

    Of equal candidates the last one counts. A weight is the lowest float32.
    Source: TensorFlow tensorflow/core/kernels/candidate_sampler_ops.cc, ComputeAccidentalHitsOp.
    """
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true or sampled_candidates.ndim != 1:
        shapes = f"{list(true_classes.shape)} and {list(sampled_candidates.shape)}"
        raise InvalidArgumentError(f"must be [batch, {num_true}] and [candidates], got {shapes}")
    places = {candidate: place for place, candidate in enumerate(sampled_candidates.tolist())}
    rows = enumerate(true_classes.tolist())
    hits = [(row, places[label]) for row, labels in rows for label in labels if label in places]
    found = np.array(hits, np.int64).reshape(-1, 2)
    weights = np.full(len(hits), np.finfo(np.float32).min, np.float32)
    return found[:, 0].astype(np.int32), found[:, 1], weights


REGISTRATIONS = (
    kernel("ComputeAccidentalHits", accidental_hits),
    kernel("DenseToDenseSetOperation", dense_to_dense_set_operation, T=PLAIN),
    kernel("DenseToSparseSetOperation", dense_to_sparse_set_operation, T=PLAIN),
    kernel("SparseToSparseSetOperation", sparse_to_sparse_set_operation, T=PLAIN),
    kernel("SetSize", set_size, T=PLAIN),
)
