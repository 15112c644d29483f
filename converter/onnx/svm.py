"""Support vector machines: one product with all vectors, then one with their coefficients."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT, DT_INT32
from ..building.contraction import product
from ..building.tensor import Tensor
from ..ir.types import element_type
from .call import Call, Rule
from .labels import labels_of, transformed

# Probabilities of a pair of classes are kept so far from 0 and 1.
_LEAST = 1e-7


def _kernel(c: Call, vectors: np.ndarray) -> Tensor:
    """The kernel of each row of x with each vector [count, features]."""
    x, kind = c.body.cast(c.input(0), DT_FLOAT), c.text("kernel_type", "LINEAR")
    gamma, offset, degree = [*c.reals("kernel_params", []), 0.0, 0.0, 0.0][:3]
    dots = product(x, c.body.constant(np.ascontiguousarray(vectors.T.astype(np.float32))))
    if kind == "LINEAR":
        return dots
    if kind == "RBF":
        own = c.make("Sum", x * x, c.body.integers([1]), keep_dims=True)
        far = own - dots * 2 + c.body.constant((vectors**2).sum(1).astype(np.float32))
        return (far.maximum(0) * -gamma).apply("Exp")
    inner = dots * gamma + offset
    if kind == "SIGMOID":
        return inner.apply("Tanh")
    if kind != "POLY":
        raise ModelError(f"kernel_type must be LINEAR, POLY, RBF or SIGMOID, got {kind!r}")
    return c.make("Pow", inner, c.body.scalar(degree, DT_FLOAT))


def _vectors(c: Call, count: int) -> np.ndarray:
    held = np.array(c.reals("support_vectors", []), np.float64)
    if count < 1 or held.size % count:
        raise ModelError(f"support_vectors must be {count} of one length, got {held.size} numbers")
    return held.reshape(count, -1)


def regressor(c: Call) -> Tensor:
    """A weighted sum of kernels; 1 or -1 by its sign of a machine of one class."""
    coefficients, count = np.array(c.reals("coefficients"), np.float32), c.integer("n_supports", 0)
    weights = c.body.constant(coefficients.reshape(-1, 1))
    rows = _kernel(c, _vectors(c, count)) if count else c.body.cast(c.input(0), DT_FLOAT)
    y = product(rows, weights) + c.reals("rho")[0]
    if c.flag("one_class"):
        return (y > 0).choose(c.body.scalar(1.0, DT_FLOAT), c.body.scalar(-1.0, DT_FLOAT))
    return transformed(c, y, c.text("post_transform", "NONE"))


def classifier(c: Call) -> list[Tensor]:
    """Each two classes are told apart: the one with the most votes, and the scores of the pairs."""
    counts, names = c.integers("vectors_per_class", []), labels_of(c)
    classes, how = len(counts), c.text("post_transform", "NONE")
    if classes != names.sizes[0] or classes < 2 or how != "NONE":
        raise UnsupportedError(
            "machines with vectors for each of two classes or more and no post_transform are built"
        )
    weights = _pair_weights(np.array(c.reals("coefficients"), np.float32), counts)
    scores = product(_kernel(c, _vectors(c, sum(counts))), c.body.constant(weights))
    scores = scores + c.body.constant(np.array(c.reals("rho"), np.float32))
    if c.has("prob_a"):
        return _with_probabilities(c, scores, names, classes)
    pairs = list(itertools.combinations(range(classes), 2))
    wins = c.body.cast(scores > 0, DT_FLOAT)
    # A class's votes: the pairs it is first in and wins, and those that it is second in and the other loses.
    table = np.zeros((len(pairs), classes), np.float32)
    for place, (first, second) in enumerate(pairs):
        table[place, [first, second]] = 1, -1
    base = (table == -1).sum(0).astype(np.float32)
    votes = product(wins, c.body.constant(table)) + c.body.constant(base)
    if classes == 2:
        scores = c.make("ConcatV2", -scores, scores, c.body.scalar(1, DT_INT32))
    return [_best(c, names, votes), scores]


def _pair_weights(coefficients: np.ndarray, counts: Sequence[int]) -> np.ndarray:
    """[vectors, pairs]: a vector counts for the pairs of its class, by the row of the other class."""
    classes, total = len(counts), sum(counts)
    if coefficients.size != (classes - 1) * total:
        raise ModelError(f"coefficients must be {(classes - 1) * total}, got {coefficients.size}")
    rows, ends = coefficients.reshape(classes - 1, total), np.cumsum([0, *counts])
    pairs = list(itertools.combinations(range(classes), 2))
    weights = np.zeros((total, len(pairs)), np.float32)
    for place, (i, j) in enumerate(pairs):
        first, second = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
        weights[first, place], weights[second, place] = rows[j - 1, first], rows[i, second]
    return weights


def _with_probabilities(c: Call, scores: Tensor, names: Tensor, classes: int) -> list[Tensor]:
    if classes != 2:
        raise UnsupportedError("probabilities of more than two classes, which are found by trying")
    slope, offset = c.reals("prob_a")[0], c.reals("prob_b")[0]
    first = (-(scores * slope + offset)).apply("Sigmoid").maximum(_LEAST).minimum(1 - _LEAST)
    both = c.make("ConcatV2", first, 1 - first, c.body.scalar(1, DT_INT32))
    return [_best(c, names, both), both]


def _best(c: Call, names: Tensor, scores: Tensor) -> Tensor:
    best = c.make("ArgMax", scores, c.body.scalar(1, DT_INT32), output_type=element_type(DT_INT32))
    return c.make("GatherV2", names, best, c.body.scalar(0, DT_INT32))


_RULES: dict[str, Rule] = {"SVMClassifier": classifier, "SVMRegressor": regressor}
REGISTRATIONS: dict[str, Rule] = {f"ai.onnx.ml.{name}": rule for name, rule in _RULES.items()}
