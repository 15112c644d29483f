"""validate: what a quantized model makes of samples, beside the float one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ...lite.errors import ModelError
from ...lite.interpreter import Interpreter
from ...lite.model import Model
from ..model_runner import model_interpreter
from .calibrate import Sample, run_sample
from .class_maps import ClassMaps, class_maps
from .detections import DetectionCloseness, Detections, detection_outputs
from .layer_statistics import as_taken, real_values

Labels = Sequence[int] | np.ndarray
_TOP = 5
_GOAL = re.compile(r"\s*(sqnr|cosine|agree|accuracy|iou|boxes)\s*>=\s*([-+.\de]+)\s*")


@dataclass(frozen=True)
class OutputCloseness:
    """How near an output comes: SQNR in dB, the cosine of the angle between both, and the largest error.

    top1 is the share of rows (of the last axis) whose largest value is at the same place, top5 that of rows
    where the float model's is among the five largest; None for outputs of one value a row. iou is the mean
    overlap of classes in both models' maps, None for what is no map (class_maps), labelled_iou that of labels
    with the float model's and with the other's.
    """

    name: str
    sqnr_db: float
    cosine: float
    max_error: float
    top1: float | None
    top5: float | None
    iou: float | None = None
    labelled_iou: tuple[float, float] | None = None


@dataclass(frozen=True)
class Validation:
    """outputs in the model's order; accuracy is that of the float model and of the other, with labels.

    detections are for models that end in TFLite_Detection_PostProcess.
    """

    samples: int
    outputs: list[OutputCloseness]
    accuracy: tuple[float, float] | None = None
    detections: DetectionCloseness | None = None

    @property
    def worst_db(self) -> float:
        """The SQNR of the worst output, infinity where there is none."""
        return min((output.sqnr_db for output in self.outputs), default=float("inf"))

    def reaches(self, goal: str) -> bool:
        """Whether a goal holds: sqnr>=30, cosine>=0.99, agree>=0.99, iou>=0.9 (of all outputs),
        accuracy>=0.9, or boxes>=0.9 (of the objects that one model detects, by the other).

        Raises ModelError where nothing tells.
        """
        what, least = parsed_goal(goal)
        if what == "accuracy":
            if self.accuracy is None:
                raise ModelError("goal: accuracy needs labels, got none")
            return self.accuracy[1] >= least
        if what == "boxes":
            if self.detections is None:
                raise ModelError("goal: boxes needs outputs of TFLite_Detection_PostProcess, got others")
            return min(self.detections.found, self.detections.right) >= least
        measures = ((o.sqnr_db, o.cosine, o.top1, o.iou) for o in self.outputs)
        values = [dict(zip(("sqnr", "cosine", "agree", "iou"), each, strict=True))[what] for each in measures]
        known = [value for value in values if value is not None]
        if not known:
            needed = "is a map of classes" if what == "iou" else "has several values a row"
            raise ModelError(f"goal: {what} needs an output that {needed}, got none")
        return min(known) >= least


def parsed_goal(goal: str) -> tuple[str, float]:
    """What is measured, and the least that it must be; ModelError for another text."""
    found = _GOAL.fullmatch(goal)
    try:
        return (found[1], float(found[2])) if found else _wrong(goal)
    except ValueError:
        return _wrong(goal)


def _wrong(goal: str) -> tuple[str, float]:
    rest = "agree>=0.99, accuracy>=0.9, iou>=0.9 or boxes>=0.9"
    raise ModelError(f"goal: must be like sqnr>=30, cosine>=0.99, {rest}, got {goal!r}")


def validate(
    float_model: Model,
    quantized: Model,
    samples: Iterable[Sample],
    labels: Labels | None = None,
) -> Validation:
    """Run both models on samples of the float one's inputs; labels are those of the first output's rows, or
    of the points of its map.

    Raises ModelError where there is no sample, one does not fit, or the labels are not as many.
    """
    real, other = model_interpreter(float_model), model_interpreter(quantized)
    sums: dict[str, _Sums] = {}
    places = detection_outputs(float_model)
    detections = None if places is None else Detections(places)
    right: list[tuple[bool, bool]] = []
    count = 0
    for sample in samples:
        where = f"sample {count}"
        graph = run_sample(real, sample, where)
        run_sample(other, as_taken(other, sample), where)
        pairs = list(zip(_outputs(real, graph), _outputs(other, graph), strict=True))
        own = None
        if labels is not None:
            classes = _classes(*(pairs[0][side][1] for side in (0, 1)))
            own = _own_labels(labels, len(right), len(classes[0]))
            right += [(bool(a == label), bool(b == label)) for a, b, label in zip(*classes, own, strict=True)]
        for place, ((name, a), (_, b)) in enumerate(pairs):
            sums.setdefault(name, _Sums(name)).add(a, b, None if place else own)
        if detections is not None and graph == 0:
            detections.add(*([pair[side][1] for pair in pairs] for side in (0, 1)))
        count += 1
    if not count:
        raise ModelError("validation: there must be samples, got none")
    if labels is not None and len(right) != np.size(labels):
        raise ModelError(f"labels: must be as many as rows, got {np.size(labels)} for {len(right)}")
    shares = np.mean(right, axis=0) if right else None
    accuracy = None if shares is None else (float(shares[0]), float(shares[1]))
    found = None if detections is None else detections.closeness()
    return Validation(count, [each.closeness() for each in sums.values()], accuracy, found)


def _outputs(interpreter: Interpreter, graph: int) -> list[tuple[str, np.ndarray]]:
    subgraph = interpreter.subgraph(graph)
    tensors = [subgraph.tensors[t] for t in subgraph.outputs]
    return [(tensor.name, real_values(tensor, tensor.array())) for tensor in tensors]


def _classes(real: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The class of each row of both models' outputs, or of each point of their maps, flat."""
    maps = class_maps(real, other)
    a, b = maps or (each.reshape(-1, each.shape[-1]).argmax(axis=1) for each in (real, other))
    return a.reshape(-1), b.reshape(-1)


def _own_labels(labels: Labels, first: int, count: int) -> np.ndarray:
    own = np.asarray(labels).reshape(-1)[first : first + count]
    if len(own) != count:
        raise ModelError(f"labels: must be as many as rows, got {np.size(labels)}")
    return own


class _Sums:
    """What an output's closeness is made of."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._signal = self._other = self._noise = self._product = self._largest = 0.0
        self._rows = self._same = self._among = 0
        self._is_ranked = True
        self._maps = ClassMaps()

    def add(self, real: np.ndarray, other: np.ndarray, labels: np.ndarray | None = None) -> None:
        a, b = real.astype(np.float64), other.astype(np.float64)
        if a.shape != b.shape:
            raise ModelError(f"output {self._name!r}: must have one shape, got {a.shape} and {b.shape}")
        self._maps.add(real, other, labels)
        self._signal, self._other = self._signal + float((a * a).sum()), self._other + float((b * b).sum())
        self._noise, self._product = (
            self._noise + float(((a - b) ** 2).sum()),
            self._product + float((a * b).sum()),
        )
        self._largest = max(self._largest, float(np.abs(a - b).max(initial=0.0)))
        if not a.ndim or a.shape[-1] < 2:
            self._is_ranked = False
            return
        rows, others = (each.reshape(-1, each.shape[-1]) for each in (a, b))
        best = rows.argmax(axis=1)
        self._rows += len(rows)
        self._same += int((best == others.argmax(axis=1)).sum())
        top = np.argsort(-others, axis=1, kind="stable")[:, :_TOP]
        self._among += int((top == best[:, None]).any(axis=1).sum())

    def closeness(self) -> OutputCloseness:
        sqnr = 10 * float(np.log10(max(self._signal, 1e-300) / self._noise)) if self._noise else float("inf")
        length = float(np.sqrt(self._signal * self._other))
        cosine = self._product / length if length else float(self._signal == self._other)
        return OutputCloseness(
            *(self._name, sqnr, cosine, self._largest, self._share(self._same), self._share(self._among)),
            *(self._maps.overlap(), self._maps.labelled()),
        )

    def _share(self, count: int) -> float | None:
        return count / self._rows if self._is_ranked and self._rows else None
