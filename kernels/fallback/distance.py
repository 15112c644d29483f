"""Distances: between sequences, to the nearest points, and to a falling sequence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from .attributes import DataType
from .axis import flattened, scalar
from .dtypes import PLAIN, REAL, numpy_dtype
from .kernel import checked_shape
from .registry import kernel
from .sparse_tensor import SparseTensor
from .status import InvalidArgumentError

_Sequence = tuple[list[int], list[Any]]


def _sequences(held: SparseTensor) -> Iterator[_Sequence]:
    """Stretches of elements of one row, in the order in which the elements come, which may not ascend."""
    elements = zip(held.indices[:, :-1].tolist(), held.values.tolist(), strict=True)
    for row, stretch in groupby(elements, itemgetter(0)):
        yield row, [value for _, value in stretch]


def _met(guesses: Iterator[_Sequence], truths: Iterator[_Sequence]) -> Iterator[tuple[list[int], list, list]]:
    """Rows with both's stretches as a merge of the two meets them: empty where the other comes first."""
    guess, truth = next(guesses, None), next(truths, None)
    while guess is not None or truth is not None:
        both = guess is not None and truth is not None and guess[0] == truth[0]
        if truth is None or (guess is not None and guess[0] <= truth[0]):
            assert guess is not None
            yield guess[0], guess[1], truth[1] if both and truth is not None else []
            guess = next(guesses, None)
            truth = next(truths, None) if both else truth
        else:
            yield truth[0], [], truth[1]
            truth = next(truths, None)


def levenshtein(a: list[Any], b: list[Any]) -> int:
    """The least number of insertions, deletions and changes that make b of a."""
    above = list(range(len(b) + 1))
    for i, one in enumerate(a, 1):
        row = [i]
        for j, other in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (one != other)))
        above = row
    return above[-1]


def edit_distance(
    hypothesis_indices: np.ndarray,
    hypothesis_values: np.ndarray,
    hypothesis_shape: np.ndarray,
    truth_indices: np.ndarray,
    truth_values: np.ndarray,
    truth_shape: np.ndarray,
    *,
    normalize: bool,
) -> np.ndarray:
    """Levenshtein's distance of sequences along the last axis, over the truth's length if normalized.

    Of a row that comes more than once the last stretch counts.
    Source: TensorFlow tensorflow/core/kernels/edit_distance_op.cc.
    """
    guess = SparseTensor.of(hypothesis_indices, hypothesis_values, hypothesis_shape)
    truth = SparseTensor.of(truth_indices, truth_values, truth_shape)
    if len(guess.shape) != len(truth.shape) or len(guess.shape) < 2:
        message = f"must have as many axes, two or more, got {list(guess.shape)} and {list(truth.shape)}"
        raise InvalidArgumentError(f"EditDistance: {message}")
    groups = tuple(max(a, b) for a, b in zip(guess.shape[:-1], truth.shape[:-1], strict=True))
    made = np.zeros(checked_shape(groups, np.dtype(np.float32)), np.float32)
    for row, one, other in _met(_sequences(guess), _sequences(truth)):
        made[tuple(row)] = _cost(levenshtein(one, other), len(other), normalize)
    return made


def _cost(distance: int, length: int, normalize: bool) -> float:
    if not normalize:
        return float(distance)
    return distance / length if length else float("inf") if distance else 0.0


def nearest_neighbors(
    points: np.ndarray, centers: np.ndarray, k: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Places of the k centers nearest to each point, and the squares of their distances."""
    if points.ndim != 2 or centers.ndim != 2 or points.shape[1] != centers.shape[1]:
        message = f"must be matrices of one width, got {list(points.shape)} and {list(centers.shape)}"
        raise InvalidArgumentError(f"NearestNeighbors: {message}")
    count = scalar(k, "k")
    if count < 0:
        raise InvalidArgumentError(f"NearestNeighbors: k must be 0 or more, got {count}")
    squares = ((points[:, None].astype(np.float64) - centers[None]) ** 2).sum(-1)
    places = np.argsort(squares, axis=-1, kind="stable")[:, :count]
    return places.astype(np.int64), np.take_along_axis(squares, places, -1).astype(np.float32)


def isotonic_regression(x: np.ndarray, *, output_dtype: DataType) -> tuple[np.ndarray, np.ndarray]:
    """The nearest rows that never rise, by pooling neighbours that do; and which pool each element is in."""
    if not x.ndim:
        raise InvalidArgumentError("IsotonicRegression: input must have an axis, got a scalar")
    rows = flattened(x, x.ndim - 1)
    made, segments = np.empty(rows.shape, np.float64), np.empty(rows.shape, np.int32)
    for row, values in enumerate(rows.tolist()):
        pools: list[list[float]] = []
        for value in values:
            pools.append([value, 1])
            while len(pools) > 1 and pools[-2][0] * pools[-1][1] < pools[-1][0] * pools[-2][1]:
                total, count = pools.pop()
                pools[-1] = [pools[-1][0] + total, pools[-1][1] + count]
        counts = [int(count) for _, count in pools]
        made[row] = np.repeat([total / count for total, count in pools], counts)
        segments[row] = np.repeat(np.arange(len(pools)), counts)
    return made.reshape(x.shape).astype(numpy_dtype(output_dtype)), segments.reshape(x.shape)


REGISTRATIONS = (
    kernel("EditDistance", edit_distance, T=PLAIN),
    kernel("NearestNeighbors", nearest_neighbors),
    kernel("IsotonicRegression", isotonic_regression, T=REAL),
)
