"""tf.image.non_max_suppression_padded as NON_MAX_SUPPRESSION_V4."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....lite.tensor import TensorType
from ....schema.tflite import BuiltinOperator, PackOptionsT, UnpackOptionsT
from ...lite_graph import LiteTensor
from ..reshape import reshaped
from .call import Composite, CompositeCall, agree

_FLOAT, _INT = TensorType.FLOAT32, TensorType.INT32
_BOXES, _SCORES, _COUNT, _OVERLAP, _SCORE = range(5)
# Images of a batch, each with an operator of its own, and boxes to choose.
_MOST_IMAGES = 64
_MOST_CHOSEN = 1 << 16
# Boxes with which a body is tried, where their number is not known.
_SOME_BOXES = 12


def non_max_suppression(call: CompositeCall) -> list[LiteTensor] | None:
    """An operator for each image, where their number and that of boxes to choose are known.

    Given:  indices, chosen = PartitionedCall(boxes, scores, count, overlap, score, ..) {f = @nms}
    Result: indices, chosen = NON_MAX_SUPPRESSION_V4(boxes, scores, count, overlap, score), reshaped
    """
    boxes, scores, count, overlap, score = call.inputs[:5]
    assert boxes.shape is not None
    images = boxes.shape[:-2]
    if len(images) > 1 or -1 in images or sum(images) > _MOST_IMAGES or count.data is None:
        return None
    most = int(count.data)
    expected = _tried(call) if 0 <= most <= _MOST_CHOSEN else None
    if expected is None:
        return None
    lowering, node = call.lowering, call.node
    found: list[list[LiteTensor]] = []
    for each in zip(_parts(call, boxes, images), _parts(call, scores, images), strict=True):
        results = lowering.results(node, [(most,), ()], [_INT, _INT])
        lowering.add(node, BuiltinOperator.NON_MAX_SUPPRESSION_V4, [*each, count, overlap, score], results)
        found.append(results)
    return [_joined(call, [results[i] for results in found], y.shape) for i, y in enumerate(expected)]


def _joined(call: CompositeCall, parts: Sequence[LiteTensor], shape: tuple[int, ...]) -> LiteTensor:
    """What was found for each image, as one tensor."""
    lowering, node, y = call.lowering, call.node, parts[0]
    if len(parts) > 1:
        packed = (len(parts), *(y.shape or ()))
        options = PackOptionsT(values_count=len(parts))
        y = lowering.operator(node, BuiltinOperator.PACK, parts, packed, options)
    made = reshaped(lowering, node, y, shape)
    assert made is not None
    return made


def _parts(call: CompositeCall, x: LiteTensor, images: tuple[int, ...]) -> list[LiteTensor]:
    """What belongs to each image."""
    if not images:
        return [x]
    lowering, node, shape = call.lowering, call.node, (x.shape or ())[1:]
    if images == (1,):
        one = reshaped(lowering, node, x, shape)
        return [] if one is None else [one]
    results = lowering.results(node, [shape] * images[0], [x.type] * images[0])
    lowering.add(node, BuiltinOperator.UNPACK, [x], results, UnpackOptionsT(num=images[0]))
    return results


def _tried(call: CompositeCall) -> list[np.ndarray] | None:
    """What the body gives for random boxes, where that is what the operator gives; else None."""
    boxes_shape, scores_shape = (call.inputs[i].shape or () for i in (_BOXES, _SCORES))
    if boxes_shape[-1:] != (4,) or len(scores_shape) != len(boxes_shape) - 1:
        return None
    sizes = tuple(_SOME_BOXES if size == -1 else size for size in boxes_shape[:-1])
    random = np.random.default_rng(0)
    corner, extent = random.uniform(0, 0.6, (2, *sizes, 2))
    boxes = np.concatenate([corner, corner + 0.1 + extent], -1).astype(np.float32)
    # Some bodies take scores in order for granted.
    scores = -np.sort(-random.uniform(0, 1, sizes)).astype(np.float32)
    some = {_OVERLAP: np.float32(0.4), _SCORE: np.float32(0.3)}
    rest = [np.asarray(some.get(i) if x.data is None else x.data) for i, x in enumerate(call.inputs)][_COUNT:]
    results = call.results([boxes, scores, *rest])
    if results is None:
        return None
    most, *limits = (float(array) for array in rest[:3])
    pairs = zip(boxes.reshape(-1, sizes[-1], 4), scores.reshape(-1, sizes[-1]), strict=True)
    chosen = [_chosen(*pair, int(most), *limits) for pair in pairs]
    padded = np.array([each + [0] * (int(most) - len(each)) for each in chosen])
    expected = (padded.ravel(), np.array([len(each) for each in chosen]))
    same = all(agree(np.asarray(r).ravel(), e) for r, e in zip(results, expected, strict=True))
    return results if same else None


def _chosen(boxes: np.ndarray, scores: np.ndarray, most: int, overlap: float, least: float) -> list[int]:
    """Boxes by falling score, without those that overlap one before by more."""
    chosen: list[int] = []
    for i in np.argsort(-scores, kind="stable"):
        if len(chosen) == most or scores[i] <= least:
            break
        if all(_overlap(boxes[i], boxes[j]) <= overlap for j in chosen):
            chosen.append(int(i))
    return chosen


def _overlap(a: np.ndarray, b: np.ndarray) -> float:
    """The common area of two boxes as a part of what they cover together."""
    common = float(np.prod(np.clip(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0, None)))
    both = float(np.prod(a[2:] - a[:2]) + np.prod(b[2:] - b[:2])) - common
    return common / both


NON_MAX_SUPPRESSION = Composite(
    ((_FLOAT, None), (_FLOAT, None), (_INT, 0), (_FLOAT, 0), (_FLOAT, 0)),
    2,
    non_max_suppression,
    has_further=True,
)
