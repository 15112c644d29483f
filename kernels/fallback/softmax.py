"""Softmax, LogSoftmax and the cross entropies by them, and L2Loss."""

from __future__ import annotations

import numpy as np

from .dtypes import FLOATS, INDICES
from .half_precision import total, widened
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError


def _shifted(x: np.ndarray) -> np.ndarray:
    """x less its greatest element along the last axis."""
    return np.asarray(x - x.max(axis=-1, keepdims=True)) if x.size else x


def _check_rank(op: str, x: np.ndarray) -> None:
    if x.ndim < 1:
        raise InvalidArgumentError(f"{op}: logits must have 1 dimension or more, got a scalar")


def softmax(x: np.ndarray) -> np.ndarray:
    """exp(x) / sum(exp(x)) along the last axis."""
    _check_rank("Softmax", x)
    exponentials = np.exp(_shifted(x))
    if x.dtype.itemsize == 2:
        return np.asarray(exponentials * (x.dtype.type(1) / total(exponentials)))
    return np.asarray(exponentials / total(exponentials))


def log_softmax(x: np.ndarray) -> np.ndarray:
    """x - log(sum(exp(x))) along the last axis."""
    _check_rank("LogSoftmax", x)
    shifted = _shifted(x)
    return np.asarray(shifted - np.log(total(np.exp(shifted))))


def softmax_cross_entropy(logits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """-sum(labels log_softmax(logits)) of each row, and its gradient softmax(logits) - labels.

    Both are matrices, of one shape after broadcasting.
    Source: TensorFlow tensorflow/core/kernels/xent_op.h.
    """
    op = "SoftmaxCrossEntropyWithLogits"
    if logits.ndim > 2 or labels.ndim > 2 or max(logits.ndim, labels.ndim) != 2:
        message = "logits and labels must be matrices"
        raise InvalidArgumentError(f"{op}: {message}, got {list(logits.shape)} and {list(labels.shape)}")
    shape = checked_shape(np.broadcast_shapes(logits.shape, labels.shape), logits.dtype)
    shifted = np.broadcast_to(_shifted(logits), shape)
    wanted = np.broadcast_to(labels, shape)
    exponentials = np.exp(shifted)
    sums = total(exponentials)
    loss = total(wanted * (np.log(sums) - shifted))
    return loss[:, 0], np.asarray(exponentials / sums - wanted)


def sparse_softmax_cross_entropy(logits: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """-log_softmax(logits) at each row's label, and its gradient. A matrix and a vector."""
    op = "SparseSoftmaxCrossEntropyWithLogits"
    if logits.ndim != 2 or labels.ndim != 1 or len(labels) != len(logits) or not logits.shape[1]:
        message = "logits must be a matrix with columns and labels a vector with an element for each row"
        raise InvalidArgumentError(f"{op}: {message}, got {list(logits.shape)} and {list(labels.shape)}")
    classes = logits.shape[1]
    wrong = (labels < 0) | (labels >= classes)
    if np.any(wrong):
        raise InvalidArgumentError(f"{op}: labels must be from 0 to {classes - 1}, got {labels[wrong][0]}")
    shifted, rows = _shifted(logits), np.arange(len(labels))
    exponentials = np.exp(shifted)
    sums = total(exponentials)
    gradient = np.asarray(exponentials / sums)
    gradient[rows, labels] -= logits.dtype.type(1)
    return np.asarray(np.log(sums[:, 0]) - shifted[rows, labels]), gradient


def l2_loss(x: np.ndarray) -> np.ndarray:
    """Half the sum of squares, a scalar."""
    wide = widened(x)
    return np.asarray(np.square(wide).sum() / 2).astype(x.dtype)


REGISTRATIONS = (
    kernel("Softmax", softmax, T=FLOATS),
    kernel("LogSoftmax", log_softmax, T=FLOATS),
    kernel("SoftmaxCrossEntropyWithLogits", softmax_cross_entropy, T=FLOATS),
    kernel("SparseSoftmaxCrossEntropyWithLogits", sparse_softmax_cross_entropy, T=FLOATS, Tlabels=INDICES),
    kernel("L2Loss", l2_loss, T=FLOATS),
)
