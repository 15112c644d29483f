"""Detections: whether two models find the same objects, matched by class and by how far boxes overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...lite.model import Model
from .float_graph import FloatGraph
from .model_editor import ModelEditor

_POSTPROCESS = "TFLite_Detection_PostProcess"
# An object counts that has such a score; it is the same where boxes overlap by so much.
_LEAST_SCORE, _LEAST_OVERLAP = 0.5, 0.5


class DetectionCloseness(NamedTuple):
    """found is the share of the float model's objects that the other one has, too (of any score), right that
    of the other's that the float model has; overlap the mean one of the boxes of objects that both have.

    objects is how many the float model has; the shares are 1 where there is none.
    """

    found: float
    right: float
    overlap: float
    objects: int


class _Objects(NamedTuple):
    boxes: np.ndarray  # [n, 4]: top, left, bottom, right
    classes: np.ndarray
    scores: np.ndarray


def detection_outputs(model: Model) -> tuple[int, ...] | None:
    """The places, among the first subgraph's outputs, of boxes, classes, scores and their number.

    None for a model whose outputs are not those of TFLite_Detection_PostProcess.
    """
    graph = FloatGraph(ModelEditor(model))
    outputs = list(graph.subgraphs[0].outputs or ())
    for step in graph.steps:
        code = (graph.editor.root.operator_codes or [])[step.operator.opcode_index]
        if code.custom_code == _POSTPROCESS and step.graph == 0 and set(step.outputs) <= set(outputs):
            return tuple(outputs.index(t) for t in step.outputs)
    return None


class Detections:
    """Sums over samples, whose outputs are at detection_outputs' places."""

    def __init__(self, places: Sequence[int]) -> None:
        self._places = places
        self._found: list[bool] = []
        self._right: list[bool] = []
        self._overlaps: list[float] = []

    def add(self, real: Sequence[np.ndarray], other: Sequence[np.ndarray]) -> None:
        """See all outputs of both models for a sample."""
        for a, b in zip(self._objects(real), self._objects(other), strict=True):
            overlaps = _matched(a, b)
            self._found += [overlap > 0 for overlap in overlaps]
            self._overlaps += [overlap for overlap in overlaps if overlap > 0]
            self._right += [overlap > 0 for overlap in _matched(b, a)]

    def closeness(self) -> DetectionCloseness:
        found, right, overlap = (
            float(np.mean(each)) if each else 1.0 for each in (self._found, self._right, self._overlaps)
        )
        return DetectionCloseness(found, right, overlap, len(self._found))

    def _objects(self, outputs: Sequence[np.ndarray]) -> list[_Objects]:
        """Those of each picture."""
        boxes, classes, scores, counts = (outputs[place] for place in self._places)
        counts = counts.reshape(-1)
        return [
            _Objects(boxes[i, :n], classes[i, :n], scores[i, :n])
            for i, n in enumerate(np.clip(counts, 0, boxes.shape[1]).astype(int))
        ]


def _matched(these: _Objects, those: _Objects) -> list[float]:
    """How far each of these (with score enough, the best first) overlaps the one of those that is its match.

    0 where it has none: each of those is the match of one only.
    """
    free, found = np.ones(len(those.scores), bool), []
    for i in np.argsort(-these.scores, kind="stable"):
        if these.scores[i] >= _LEAST_SCORE:
            overlaps = _overlaps(these.boxes[i], those.boxes) * (those.classes == these.classes[i]) * free
            best = int(overlaps.argmax()) if len(overlaps) else -1
            is_match = best >= 0 and overlaps[best] >= _LEAST_OVERLAP
            if is_match:
                free[best] = False
            found.append(float(overlaps[best]) if is_match else 0.0)
    return found


def _overlaps(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """[n]: the area that a box has in common with each of others, of what both cover."""
    lows, highs = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    both = np.clip(highs - lows, 0, None).prod(axis=1)
    areas = np.clip(box[2:] - box[:2], 0, None).prod() + np.clip(others[:, 2:] - others[:, :2], 0, None).prod(
        1
    )
    return np.divide(both, areas - both, out=np.zeros(len(others)), where=areas > both)
