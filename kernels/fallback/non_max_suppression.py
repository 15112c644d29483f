"""NonMaxSuppression V1 to V5, WithOverlaps and Combined: the best boxes that overlap little."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from ...schema import graph_def
from .axis import element_of
from .binary import larger, smaller
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError

_TYPES = frozenset((graph_def.DT_FLOAT, graph_def.DT_HALF))
# How much each box overlaps another: given a box's number, its overlap with all of the others.
Overlap = Callable[[int], np.ndarray]


def _intersection_over_union(boxes: np.ndarray) -> Overlap:
    """By boxes (y1, x1, y2, x2), any two opposite corners; 0 where a box has no area.

    The smaller and the larger of two are C++'s: the first where either is no number.
    """
    wide = boxes.astype(np.float32)
    low, high = smaller(wide[:, :2], wide[:, 2:]), larger(wide[:, :2], wide[:, 2:])
    with np.errstate(invalid="ignore", over="ignore"):
        area = (high - low).prod(axis=1)

    def overlap(box: int) -> np.ndarray:
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            sides = smaller(high, high[box]) - larger(low, low[box])
            common = np.where(sides < 0, np.float32(0), sides).prod(axis=1)
            found = common / (area + area[box] - common)
        return np.where((area <= 0) | (area[box] <= 0), np.float32(0), found)

    return overlap


def _ranked(scores: np.ndarray, least: float) -> np.ndarray:
    """Numbers of the boxes that score more than least, best first, of equals the first."""
    order = np.argsort(-scores, kind="stable")
    return order[scores[order] > least]


def _chosen_of_class(
    overlap: Overlap, scores: np.ndarray, most: int, threshold: float, least: float
) -> np.ndarray:
    """The best boxes, at most so many, none overlapping a better one by more than the threshold."""
    alive = np.ones(len(scores), bool)
    chosen: list[int] = []
    for box in _ranked(scores, least):
        if len(chosen) >= most:
            break
        if alive[box]:
            chosen.append(int(box))
            alive &= ~(overlap(int(box)) > threshold)
    return np.array(chosen, np.int32)


@np.errstate(invalid="ignore", over="ignore")
def _suppressed(
    overlap: Overlap, scores: np.ndarray, most: int, threshold: float, least: float, sigma: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Boxes and their scores, in the scores' type: the best, at most so many.

    Without a sigma what overlaps a better box by more than the threshold, or by an infinity below it, is
    left out, and scores 0 where the overlap or the threshold is no number. With one, scores fall by
    exp(-overlap^2 / (2 sigma)) for each better box.
    Source: TensorFlow tensorflow/core/kernels/image/non_max_suppression_op.cc.
    """
    kind = scores.dtype.type
    scale, limit, enough = kind(-0.5) / kind(sigma) if sigma else kind(0), kind(threshold), kind(least)
    queue = [(-scores[box], int(box), 0) for box in np.flatnonzero(scores > enough)]
    heapq.heapify(queue)
    chosen: list[int] = []
    kept: list[np.floating] = []
    factors: list[np.ndarray] = []
    gone = np.zeros(len(scores), bool)
    while queue and len(chosen) < most:
        negative, box, begin = heapq.heappop(queue)
        if gone[box]:
            continue
        score = -negative
        for weights in reversed(factors[begin:]):
            score = score * weights[box]
            if score <= enough:
                break
        if score == -negative:
            chosen.append(box)
            kept.append(score)
            apart = overlap(box).astype(kind)
            more, no_more = apart > limit, apart <= limit
            if sigma:
                factors.append(np.exp(scale * apart * apart))
                continue
            gone |= more | np.isinf(apart)
            if not np.all(more | no_more):
                factors.append(no_more.astype(kind))
        elif score > enough:
            heapq.heappush(queue, (-score, box, len(factors)))
    return np.array(chosen, np.int32), np.array(kept, scores.dtype)


def _limits(
    op: str, dtype: np.dtype, most: np.ndarray, threshold: np.ndarray, least: np.ndarray | None = None
) -> tuple[int, float, float]:
    count = int(element_of(op, "max_output_size", most))
    overlap = float(element_of(op, "iou_threshold", threshold))
    if count < 0 or not 0 <= overlap <= 1:
        message = "max_output_size must not be negative and iou_threshold be from 0 to 1"
        raise InvalidArgumentError(f"{op}: {message}, got {count} and {overlap}")
    # Without a score threshold every number but the lowest is enough.
    enough = np.finfo(dtype).min if least is None else element_of(op, "score_threshold", least)
    return count, overlap, float(enough)


def _check(op: str, boxes: np.ndarray, scores: np.ndarray) -> None:
    if boxes.ndim != 2 or boxes.shape[1] != 4 or scores.shape != (len(boxes),):
        message = "boxes must be [n, 4] and scores [n]"
        raise InvalidArgumentError(f"{op}: {message}, got {list(boxes.shape)} and {list(scores.shape)}")


def _chosen(
    op: str,
    boxes: np.ndarray,
    scores: np.ndarray,
    most: np.ndarray,
    threshold: np.ndarray,
    least: np.ndarray | None = None,
) -> np.ndarray:
    _check(op, boxes, scores)
    limits = _limits(op, scores.dtype, most, threshold, least)
    return _suppressed(_intersection_over_union(boxes), scores, *limits)[0]


def non_max_suppression(
    boxes: np.ndarray, scores: np.ndarray, most: np.ndarray, *, iou_threshold: float
) -> np.ndarray:
    """Numbers of the chosen boxes, int32: best first, none overlapping a better one by more."""
    return _chosen("NonMaxSuppression", boxes, scores, most, np.array(iou_threshold, np.float32))


def non_max_suppression_v2(
    boxes: np.ndarray, scores: np.ndarray, most: np.ndarray, threshold: np.ndarray
) -> np.ndarray:
    """NonMaxSuppression, the threshold being a tensor."""
    return _chosen("NonMaxSuppressionV2", boxes, scores, most, threshold)


def non_max_suppression_v3(
    boxes: np.ndarray, scores: np.ndarray, most: np.ndarray, threshold: np.ndarray, least: np.ndarray
) -> np.ndarray:
    """V2 of the boxes that score more than least."""
    return _chosen("NonMaxSuppressionV3", boxes, scores, most, threshold, least)


def _padded(x: np.ndarray, size: int) -> np.ndarray:
    made = np.zeros(checked_shape((size,), x.dtype), x.dtype)
    made[: len(x)] = x
    return made


def non_max_suppression_v4(
    boxes: np.ndarray,
    scores: np.ndarray,
    most: np.ndarray,
    threshold: np.ndarray,
    least: np.ndarray,
    *,
    pad_to_max_output_size: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """V3, padded with zeros if wished, and how many boxes were chosen."""
    op = "NonMaxSuppressionV4"
    chosen = _chosen(op, boxes, scores, most, threshold, least)
    valid = np.array(len(chosen), np.int32)
    return (_padded(chosen, int(most)) if pad_to_max_output_size else chosen), valid


def non_max_suppression_v5(
    boxes: np.ndarray,
    scores: np.ndarray,
    most: np.ndarray,
    threshold: np.ndarray,
    least: np.ndarray,
    sigma: np.ndarray,
    *,
    pad_to_max_output_size: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """V4 with the chosen boxes' scores. With a sigma, overlapping boxes lose score instead of all."""
    op = "NonMaxSuppressionV5"
    _check(op, boxes, scores)
    spread = float(element_of(op, "soft_nms_sigma", sigma))
    if not spread >= 0:
        raise InvalidArgumentError(f"{op}: soft_nms_sigma must not be negative, got {spread}")
    limits = _limits(op, scores.dtype, most, threshold, least)
    chosen, kept = _suppressed(_intersection_over_union(boxes), scores, *limits, spread)
    valid = np.array(len(chosen), np.int32)
    if pad_to_max_output_size:
        chosen, kept = _padded(chosen, limits[0]), _padded(kept, limits[0])
    return chosen, kept, valid


def non_max_suppression_with_overlaps(
    overlaps: np.ndarray, scores: np.ndarray, most: np.ndarray, threshold: np.ndarray, least: np.ndarray
) -> np.ndarray:
    """V3, overlaps [n, n] being given."""
    op = "NonMaxSuppressionWithOverlaps"
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1] or scores.shape != overlaps.shape[:1]:
        message = "overlaps must be [n, n] and scores [n]"
        raise InvalidArgumentError(f"{op}: {message}, got {list(overlaps.shape)} and {list(scores.shape)}")
    count = int(element_of(op, "max_output_size", most))
    limit, enough = element_of(op, "overlap_threshold", threshold), element_of(op, "score_threshold", least)
    if count < 0:
        raise InvalidArgumentError(f"{op}: max_output_size must not be negative, got {count}")
    return _suppressed(lambda box: overlaps[:, box], scores, count, float(limit), float(enough))[0]


def combined_non_max_suppression(
    boxes: np.ndarray,
    scores: np.ndarray,
    most_per_class: np.ndarray,
    most: np.ndarray,
    threshold: np.ndarray,
    least: np.ndarray,
    *,
    pad_per_class: bool,
    clip_boxes: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Boxes [N, n, classes or 1, 4] with scores [N, n, classes]: the best of all classes.

    Suppression is within each class. Gives boxes [N, m, 4], scores and classes [N, m], zeros at the
    end, and how many there are [N].
    """
    op = "CombinedNonMaxSuppression"
    classes = scores.shape[2] if scores.ndim == 3 else 0
    good = boxes.ndim == 4 and scores.ndim == 3 and boxes.shape[3] == 4
    if not good or boxes.shape[:2] != scores.shape[:2] or boxes.shape[2] not in (1, classes):
        message = "boxes must be [N, n, 1 or classes, 4] and scores [N, n, classes]"
        raise InvalidArgumentError(f"{op}: {message}, got {list(boxes.shape)} and {list(scores.shape)}")
    each, overlap, enough = _limits(op, scores.dtype, most_per_class, threshold, least)
    total = int(element_of(op, "max_total_size", most))
    if each < 1 or total < 1:
        raise InvalidArgumentError(f"{op}: sizes must be positive, got {each} of a class and {total}")
    size = min(total, each * classes) if pad_per_class else total
    shape = checked_shape((len(boxes), size), np.dtype(np.float32))
    best = np.zeros((*shape, 4), np.float32)
    values, kinds = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    valid = np.zeros(len(boxes), np.int32)
    for i in range(len(boxes)):
        limits = (each, overlap, enough)
        at, of = _best_of_classes(boxes[i], scores[i], limits, size)
        valid[i] = len(at)
        chosen = boxes[i, at, of if boxes.shape[2] > 1 else np.zeros_like(of)]
        best[i, : len(at)] = np.clip(chosen, 0, 1) if clip_boxes else chosen
        values[i, : len(at)] = scores[i, at, of]
        kinds[i, : len(at)] = of
    return best, values, kinds, valid


def _best_of_classes(
    boxes: np.ndarray, scores: np.ndarray, limits: tuple[int, float, float], most: int
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and classes of the best boxes of an image, best first."""
    at, of = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for number in range(scores.shape[1]):
        overlap = _intersection_over_union(boxes[:, number if boxes.shape[1] > 1 else 0])
        chosen = _chosen_of_class(overlap, scores[:, number], *limits)
        at.append(chosen.astype(np.int64))
        of.append(np.full(len(chosen), number, np.int64))
    boxes_at, classes = np.concatenate(at), np.concatenate(of)
    order = np.argsort(-scores[boxes_at, classes], kind="stable")[:most]
    return boxes_at[order], classes[order]


REGISTRATIONS = (
    kernel("NonMaxSuppression", non_max_suppression),
    kernel("NonMaxSuppressionV2", non_max_suppression_v2, T=_TYPES),
    kernel("NonMaxSuppressionV3", non_max_suppression_v3, T=_TYPES),
    kernel("NonMaxSuppressionV4", non_max_suppression_v4, T=_TYPES),
    kernel("NonMaxSuppressionV5", non_max_suppression_v5, T=_TYPES),
    kernel("NonMaxSuppressionWithOverlaps", non_max_suppression_with_overlaps),
    kernel("CombinedNonMaxSuppression", combined_non_max_suppression),
)
