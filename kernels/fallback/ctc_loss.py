"""CTCLoss: how unlikely labels are under sequences of class scores."""

from __future__ import annotations

import numpy as np

from ...schema import graph_def
from .ctc_decoder import check_sequences
from .registry import kernel
from .status import InvalidArgumentError

_TYPES = frozenset((graph_def.DT_FLOAT, graph_def.DT_DOUBLE))


def _labels_of(indices: np.ndarray, values: np.ndarray, batch: int) -> list[list[int]]:
    """The labels of each sequence, of a sparse matrix in order."""
    op = "CTCLoss"
    if indices.ndim != 2 or indices.shape[1] != 2 or values.shape != (len(indices),):
        message = "labels_indices must be [n, 2] and labels_values [n]"
        raise InvalidArgumentError(f"{op}: {message}, got {list(indices.shape)} and {list(values.shape)}")
    if np.any(values < 0):
        raise InvalidArgumentError(f"{op}: labels must be 0 or more, got {values.min()}")
    if np.any((indices[:, 0] < 0) | (indices[:, 0] >= batch)):
        message = f"labels_indices must be of sequences 0 to {batch - 1}"
        raise InvalidArgumentError(f"{op}: {message}, got {indices[:, 0].tolist()}")
    found: list[list[int]] = [[] for _ in range(batch)]
    for row, value in zip(indices[:, 0].tolist(), values.tolist(), strict=True):
        found[row].append(value)
    return found


def _without_blanks(labels: list[int], blank: int, row: int) -> list[int]:
    """The labels up to those that are no class, which may only end them."""
    count = next((at for at, label in enumerate(labels) if label >= blank), len(labels))
    if any(label < blank for label in labels[count:]):
        message = f"labels of sequence {row} must be below {blank} or end with what is not"
        raise InvalidArgumentError(f"CTCLoss: {message}, got {labels}")
    return labels[:count]


def _log_probabilities(scores: np.ndarray) -> np.ndarray:
    """Of each class, float64: -inf where the probability is below the normal numbers of the scores' type."""
    if not scores.size:
        return scores.astype(np.float64)
    with np.errstate(all="ignore"):
        probability = np.exp(scores - scores.max(axis=2, keepdims=True))
        probability /= probability.sum(axis=2, keepdims=True)
        probability[probability < np.finfo(scores.dtype).tiny] = 0
        return np.log(probability.astype(np.float64))


def _moved(x: np.ndarray, places: int) -> np.ndarray:
    """x with as many impossible states before it, as long as before."""
    made = np.full_like(x, -np.inf)
    if places < len(x):
        made[places:] = x[: len(x) - places]
    return made


def _forward(logs: np.ndarray, path: np.ndarray, stays: np.ndarray, skips: np.ndarray) -> np.ndarray:
    """log probabilities [time, states] of all ways that lead to a state of the path at a time."""
    found = np.full((len(logs), len(path)), -np.inf)
    found[0, :2] = logs[0, path[:2]]
    for time in range(1, len(logs)):
        before = found[time - 1]
        total = np.logaddexp(np.where(stays, before, -np.inf), _moved(before, 1))
        total = np.logaddexp(total, np.where(skips, _moved(before, 2), -np.inf))
        found[time] = total + logs[time, path]
    return found


def _loss_and_gradient(logs: np.ndarray, labels: list[int], merge: bool) -> tuple[float, np.ndarray]:
    """Of one sequence: -log p(labels), and its gradient by the scores [time, classes].

    Source: Graves et al., Connectionist Temporal Classification; TensorFlow
    tensorflow/core/util/ctc/ctc_loss_calculator.h for what repeated labels may do.
    """
    blank = logs.shape[1] - 1
    path = np.full(2 * len(labels) + 1, blank)
    path[1::2] = labels
    same = np.zeros(len(path), bool)
    same[2:] = path[2:] == path[:-2]
    # Unless repeats are merged, a label cannot last, but may follow itself at once.
    stays = (path == blank) | merge
    skips = (path != blank) & ~(same & merge)
    skips[:2] = False
    forward = _forward(logs, path, stays, skips)
    # The same walk from the end: a skip leads out of a state now.
    back_skips = np.zeros(len(path), bool)
    back_skips[2:] = skips[::-1][:-2] if len(path) > 2 else False
    backward = _forward(logs[::-1], path[::-1], stays[::-1], back_skips)[::-1, ::-1]
    total = float(np.logaddexp.reduce(forward[-1, -2:]))
    gradient = np.exp(logs)
    if total == -np.inf:
        return np.inf, gradient
    if np.isnan(total):
        return np.nan, np.full_like(gradient, np.nan)
    # Both walks count the step at which they meet.
    visits = np.exp(forward + backward - logs[:, path] - total)
    visits = np.where(np.isfinite(logs[:, path]), visits, 0)
    np.subtract.at(gradient.T, path, visits.T)
    return -total, gradient


def ctc_loss(
    inputs: np.ndarray,
    indices: np.ndarray,
    values: np.ndarray,
    lengths: np.ndarray,
    *,
    preprocess_collapse_repeated: bool,
    ctc_merge_repeated: bool,
    ignore_longer_outputs_than_inputs: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """The loss of each sequence [batch] and its gradient [time, batch, classes].

    inputs are scores [time, batch, classes], the last class blank; labels a sparse matrix by
    sequence, each with one at least.
    """
    op = "CTCLoss"
    check_sequences(op, inputs, lengths)
    classes = inputs.shape[2]
    labels = _labels_of(indices, values, inputs.shape[1])
    logs = _log_probabilities(inputs)
    losses, gradient = np.zeros(inputs.shape[1], inputs.dtype), np.zeros(inputs.shape, inputs.dtype)
    for row, length in enumerate(lengths.tolist()):
        own = labels[row]
        if not own:
            raise InvalidArgumentError(f"{op}: each sequence must have labels, got none for {row}")
        if preprocess_collapse_repeated:
            own = [label for at, label in enumerate(own) if at == 0 or own[at - 1] != label]
        own = _without_blanks(own, classes - 1, row)
        if len(own) > length:
            if ignore_longer_outputs_than_inputs:
                continue
            message = f"sequence {row} must have {len(own)} steps for its labels"
            raise InvalidArgumentError(f"{op}: {message}, got {length}")
        if length:
            found = _loss_and_gradient(logs[:length, row], own, ctc_merge_repeated)
            losses[row], gradient[:length, row] = found
    return losses, gradient


REGISTRATIONS = (kernel("CTCLoss", ctc_loss, T=_TYPES),)
