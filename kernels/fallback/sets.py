"""Sets as rows along the last axis of dense or sparse tensors: their sizes, unions, intersections."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from ...lite.string_tensor import string_array
from .dtypes import PLAIN
from .kernel import checked_shape
from .registry import kernel
from .sparse_tensor import SparseTensor
from .status import InvalidArgumentError

Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
Group = tuple[int, ...]
# Sets in the order in which they come, each with its group: its place along the axes but the last.
Rows = list[tuple[Group, set[Any]]]
Pairs = Iterator[tuple[Group, set[Any], set[Any]]]

_OPERATIONS: dict[str, Callable[[set[Any], set[Any]], set[Any]]] = {
    "a-b": set.difference,
    "b-a": lambda a, b: b - a,
    "intersection": set.intersection,
    "union": set.union,
}


def _dense_rows(x: np.ndarray) -> Rows:
    if x.ndim < 2:
        raise InvalidArgumentError(f"sets must have two axes or more, got {list(x.shape)}")
    return [(group, set(x[group].tolist())) for group in np.ndindex(x.shape[:-1])]


def _sparse_rows(held: SparseTensor) -> Rows:
    """Elements of one group that follow each other are a set, so that a group may have several."""
    if len(held.shape) < 2:
        raise InvalidArgumentError(f"sets must have two axes or more, got {list(held.shape)}")
    groups = (tuple(place[:-1]) for place in held.indices.tolist())
    parts = groupby(zip(groups, held.values.tolist(), strict=True), itemgetter(0))
    return [(group, {value for _, value in elements}) for group, elements in parts]


def _combined(pairs: Pairs, groups: tuple[Group, Group], operation: str, dtype: np.dtype) -> Parts:
    """Sets of pairs, each in order: a sparse tensor."""
    if operation.lower() not in _OPERATIONS:
        raise InvalidArgumentError(
            f"set_operation must be one of {', '.join(_OPERATIONS)}, got {operation!r}"
        )
    if groups[0] != groups[1]:
        raise InvalidArgumentError(f"groups of both sets must agree, got {groups[0]} and {groups[1]}")
    combine = _OPERATIONS[operation.lower()]
    rows = [(group, sorted(combine(a, b))) for group, a, b in pairs]
    found = [(group, row) for group, row in rows if row]
    places = [(*group, i) for group, row in found for i in range(len(row))]
    values = [value for _, row in found for value in row]
    longest = max((len(row) for _, row in found), default=0)
    held = string_array(values, [len(values)]) if dtype.kind == "O" else np.array(values, dtype)
    indices = np.array(places, np.int64).reshape(-1, len(groups[0]) + 1)
    return indices, held, np.array([*groups[0], longest], np.int64)


def _paired(a: Rows, b: Rows) -> Pairs:
    """As a merge of the two meets them, whose groups should ascend.

    Source: TensorFlow tensorflow/core/kernels/set_kernels.cc, ComputeSparseToSparse.
    """
    i = j = 0
    while i < len(a) or j < len(b):
        takes_a = j == len(b) or (i < len(a) and a[i][0] <= b[j][0])
        takes_b = i == len(a) or (j < len(b) and b[j][0] <= a[i][0])
        yield a[i][0] if takes_a else b[j][0], a[i][1] if takes_a else set(), b[j][1] if takes_b else set()
        i, j = i + takes_a, j + takes_b


def _beside(dense: Rows, sparse: Rows) -> Pairs:
    """Each dense set with the next sparse one where that is of its group, else with none.

    Source: TensorFlow tensorflow/core/kernels/set_kernels.cc, ComputeDenseToSparse.
    """
    j = 0
    for group, row in dense:
        meets = j < len(sparse) and sparse[j][0] == group
        yield group, row, sparse[j][1] if meets else set()
        j += meets


def dense_to_dense_set_operation(set1: np.ndarray, set2: np.ndarray, *, set_operation: str) -> Parts:
    """Sets of two dense tensors combined: a-b, b-a, intersection or union."""
    pairs = _paired(_dense_rows(set1), _dense_rows(set2))
    return _combined(pairs, (set1.shape[:-1], set2.shape[:-1]), set_operation, set1.dtype)


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
    pairs = _beside(_dense_rows(set1), _sparse_rows(other))
    return _combined(pairs, groups, set_operation, set1.dtype)


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
    pairs = _paired(_sparse_rows(one), _sparse_rows(other))
    return _combined(pairs, groups, set_operation, set1_values.dtype)


def set_size(set_indices: np.ndarray, set_values: np.ndarray, set_shape: np.ndarray) -> np.ndarray:
    """How many different elements each set has: int32, the shape without its last axis.

    Of a group whose elements do not follow each other the last ones count.
    """
    held = SparseTensor.of(set_indices, set_values, set_shape)
    made = np.zeros(checked_shape(held.shape[:-1], np.dtype(np.int32)), np.int32)
    for group, row in _sparse_rows(held):
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
