"""NON_MAX_SUPPRESSION_V4 and V5: the best boxes, without those that overlap a better one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..lite.context import Context
from ..lite.errors import InvokeError, PrepareError
from ..lite.kernel_call import KernelCall
from ..lite.node import Node
from ..lite.registration import Registration
from ..lite.tensor import Tensor, TensorType
from .index_vector import check_counts, check_index_type, check_sizes, integers

NON_MAX_SUPPRESSION_V4 = 120  # the schema's BuiltinOperator
NON_MAX_SUPPRESSION_V5 = 121

# soft tells whether sigma and selected_scores are there. The heap holds, for every box that waits,
# its number, its score, and how many selected boxes it has been compared with.
NMS_ARGS = np.dtype(
    [
        ("boxes", np.int64),
        ("scores", np.int64),
        ("iou_threshold", np.int64),
        ("score_threshold", np.int64),
        ("sigma", np.int64),
        ("selected", np.int64),
        ("selected_scores", np.int64),
        ("count", np.int64),
        ("heap_boxes", np.int64),
        ("heap_scores", np.int64),
        ("heap_compared", np.int64),
        ("boxes_count", np.int64),
        ("most", np.int64),
        ("soft", np.int64),
    ],
    align=True,
)
NEGATIVE_SIGMA = 1

_FLOAT = (TensorType.FLOAT32,)
_INT = (TensorType.INT32,)


class Operands(NamedTuple):
    """The tensors of a node; sigma and selected_scores are None in V4."""

    boxes: Tensor
    scores: Tensor
    most: Tensor
    iou_threshold: Tensor
    score_threshold: Tensor
    sigma: Tensor | None
    selected: Tensor
    selected_scores: Tensor | None
    number: Tensor


def _operands(context: Context, node: Node, operator: str) -> Operands:
    soft = operator == "NON_MAX_SUPPRESSION_V5"
    check_counts(operator, node, 5 + soft, 2 + soft)
    inputs = [context.input(node, i) for i in range(5 + soft)]
    found = Operands(
        inputs[0],
        inputs[1],
        inputs[2],
        inputs[3],
        inputs[4],
        inputs[5] if soft else None,
        context.output(node, 0),
        context.output(node, 1) if soft else None,
        context.output(node, 1 + soft),
    )
    for what, tensor, types in (
        ("boxes", found.boxes, _FLOAT),
        ("scores", found.scores, _FLOAT),
        ("the size", found.most, _INT),
        ("selected boxes", found.selected, _INT),
        ("their number", found.number, _INT),
    ):
        check_index_type(operator, what, tensor, types)
    if found.boxes.shape[1:] != (4,) or found.scores.shape != found.boxes.shape[:1]:
        raise PrepareError(
            f"{operator}: there must be 4 corners and a score a box, got {found.boxes!r} and {found.scores!r}"
        )
    for scalar in inputs[2:]:
        kind = TensorType.INT32 if scalar is found.most else TensorType.FLOAT32
        if scalar.shape != () or scalar.type != kind:
            raise PrepareError(f"{operator}: size, thresholds and sigma must be scalars, got {scalar!r}")
    if found.selected_scores is not None:
        check_index_type(operator, "selected scores", found.selected_scores, _FLOAT)
    return found


def _resize(context: Context, operator: str, found: Operands) -> int:
    """Size the outputs; how many boxes they have room for."""
    (most,) = check_sizes(operator, (integers(found.most)[0],))
    context.resize_tensor(found.selected, (most,))
    if found.selected_scores is not None:
        context.resize_tensor(found.selected_scores, (most,))
    return most


def _prepare(operator: str, context: Context, node: Node) -> Sequence[KernelCall] | None:
    found = _operands(context, node, operator)
    context.resize_tensor(found.number, ())
    if not found.most.is_constant:
        context.set_dynamic(found.selected)
        if found.selected_scores is not None:
            context.set_dynamic(found.selected_scores)
        return None
    args = np.zeros(1, NMS_ARGS)
    args["most"] = _resize(context, operator, found)
    args["boxes_count"] = found.boxes.shape[0]
    tensors = {
        "boxes": found.boxes,
        "scores": found.scores,
        "iou_threshold": found.iou_threshold,
        "score_threshold": found.score_threshold,
        "selected": found.selected,
        "count": found.number,
    }
    for name in ("heap_boxes", "heap_scores", "heap_compared"):
        tensors[name] = context.add_temporary(node, max(found.boxes.shape[0], 1) * 4)
    if found.sigma is not None and found.selected_scores is not None:
        args["soft"] = 1
        tensors |= {"sigma": found.sigma, "selected_scores": found.selected_scores}
    messages = {NEGATIVE_SIGMA: f"{operator}: sigma must be at least 0"}
    return [KernelCall("non_max_suppression", "non_max_suppression", args, tensors, messages=messages)]


class Waiting(NamedTuple):
    """A box that may yet be selected, its score, and how many selected boxes it was compared with."""

    box: int
    score: np.float32
    compared: int


class Heap:
    """A binary heap by score. Of equal scores the one comes first that does in libstdc++'s queue."""

    def __init__(self) -> None:
        self.items: list[Waiting] = []

    def push(self, item: Waiting) -> None:
        self.items.append(item)
        self._rise(len(self.items) - 1, item)

    def pop(self) -> Waiting:
        items = self.items
        top, item = items[0], items.pop()
        if not items:
            return top
        hole = 0
        while 2 * hole + 1 < len(items):
            child = 2 * hole + 2
            if child == len(items) or items[child].score < items[child - 1].score:
                child -= 1
            items[hole] = items[child]
            hole = child
        self._rise(hole, item)
        return top

    def _rise(self, hole: int, item: Waiting) -> None:
        items = self.items
        while hole > 0 and items[(hole - 1) // 2].score < item.score:
            items[hole] = items[(hole - 1) // 2]
            hole = (hole - 1) // 2
        items[hole] = item


class Corners(NamedTuple):
    """Lowest and highest corners [y, x] of boxes, and their areas (float32)."""

    low: np.ndarray
    high: np.ndarray
    areas: np.ndarray


def corners(boxes: np.ndarray) -> Corners:
    """Of boxes [y1, x1, y2, x2] whose corners may be in either order."""
    low = np.minimum(boxes[:, :2], boxes[:, 2:])
    high = np.maximum(boxes[:, :2], boxes[:, 2:])
    return Corners(low, high, (high - low)[:, 0] * (high - low)[:, 1])


def overlaps(boxes: Corners, box: int, others: list[int]) -> np.ndarray:
    """Intersection over union (float32) of a box with others."""
    low, high, areas = boxes
    zero, area, other_areas = np.float32(0), areas[box], areas[others]
    sides = np.maximum(np.minimum(high[box], high[others]) - np.maximum(low[box], low[others]), zero)
    shared = sides[:, 0] * sides[:, 1]
    empty = (area <= 0) | (other_areas <= 0)
    return np.where(empty, zero, shared / (area + other_areas - shared))


def suppress(
    boxes: np.ndarray, scores: np.ndarray, most: int, thresholds: tuple[np.float32, np.float32], sigma: float
) -> tuple[list[int], list[np.float32]]:
    """The selected boxes and their scores, best first; thresholds are those of overlap and of score.

    Source: LiteRT tflite/kernels/internal/reference/non_max_suppression.h.
    """
    overlap_threshold, score_threshold = thresholds
    sides = corners(boxes)
    heap = Heap()
    for box in np.flatnonzero(scores > score_threshold).tolist():
        heap.push(Waiting(box, scores[box], 0))
    room = min(len(heap.items), most)
    scale = np.float32(-0.5 / sigma) if sigma > 0 else np.float32(0)
    selected: list[int] = []
    selected_scores: list[np.float32] = []
    while len(selected) < room and heap.items:
        box, first_score, compared = heap.pop()
        score, hard = first_score, False
        before = selected[compared:]
        for overlap in overlaps(sides, box, before)[::-1] if before else ():
            hard = bool(overlap >= overlap_threshold)
            if hard:
                break
            if sigma > 0:
                score = score * np.float32(math.exp(scale * overlap * overlap))
            if score <= score_threshold:
                break
        seen = len(selected)
        if hard:
            continue
        if score == first_score:
            selected.append(box)
            selected_scores.append(score)
        if score > score_threshold:
            heap.push(Waiting(box, score, seen))
    return selected, selected_scores


def _invoke(operator: str, context: Context, node: Node) -> None:
    found = _operands(context, node, operator)
    most = _resize(context, operator, found)
    sigma = 0.0 if found.sigma is None else float(found.sigma.array())
    if sigma < 0:
        raise InvokeError(f"{operator}: sigma must be at least 0, got {sigma}")
    thresholds = (np.float32(found.iou_threshold.array()), np.float32(found.score_threshold.array()))
    with np.errstate(all="ignore"):
        chosen, scores = suppress(found.boxes.array(), found.scores.array(), most, thresholds, sigma)
    found.number.array()[...] = len(chosen)
    outputs: list[tuple[Tensor | None, list]] = [(found.selected, chosen), (found.selected_scores, scores)]
    for tensor, values in outputs:
        if tensor is not None:
            tensor.array()[...] = 0
            tensor.array()[: len(values)] = values


def _registration(name: str, builtin_code: int) -> Registration:
    def prepare(context: Context, node: Node) -> Sequence[KernelCall] | None:
        return _prepare(name, context, node)

    def invoke(context: Context, node: Node) -> None:
        _invoke(name, context, node)

    return Registration(name, prepare, invoke, builtin_code=builtin_code)


REGISTRATIONS = (
    _registration("NON_MAX_SUPPRESSION_V4", NON_MAX_SUPPRESSION_V4),
    _registration("NON_MAX_SUPPRESSION_V5", NON_MAX_SUPPRESSION_V5),
)
