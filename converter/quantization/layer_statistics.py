"""LayerStatistics: how far each tensor of a quantized model lies from the float one's, over samples.

Both models run side by side, and tensors are matched by their names; what lies before a tensor has its share
in the error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...lite.interpreter import Interpreter
from ...lite.model import Model
from ...lite.tensor import Tensor, TensorType
from ..model_runner import model_interpreter
from .calibrate import Sample, run_sample
from .histogram import Histogram
from .rewrite import QUANTIZED

if TYPE_CHECKING:
    from ...lite.subgraph import Subgraph

_INTEGERS = (TensorType.INT8, TensorType.UINT8, TensorType.INT16)
# A tensor by its subgraph and its name.
Place = tuple[int, str]


class LayerStatistics:
    """Of one tensor: sums over all of its values. scale is None for one that is float in both models."""

    def __init__(self, tensor: Tensor) -> None:
        self.type = TensorType(tensor.type).name.lower()
        found = tensor.quantization if tensor.type in _INTEGERS else None
        is_known = found is not None and len(found.scales) == 1
        self.scale = float(found.scales[0]) if is_known and found is not None else None
        self.zero_point = int(found.zero_points[0]) if is_known and found is not None else 0
        # What integers stand for, with what is rounded to the last of them.
        self.clip = None if self.scale is None else _clip(tensor, self.scale, self.zero_point)
        self.count = self.saturated = self.outside = 0
        self.low, self.high = np.inf, -np.inf
        self._signal = self._noise = self._error = 0.0
        self.max_abs_error = 0.0
        self._histogram = Histogram()

    def update(self, real: np.ndarray, stored: np.ndarray) -> None:
        """See the float model's values, and what the quantized one stores."""
        values = stored.astype(np.float64)
        if self.scale is not None:
            limits = np.iinfo(stored.dtype)
            # What stands for zero at an end is exact: a RELU's zeros are not cut off.
            for end in {int(limits.min), int(limits.max)} - {self.zero_point}:
                self.saturated += int(np.count_nonzero(stored == end))
            values = (values - self.zero_point) * self.scale
        wide = real.astype(np.float64)
        if self.clip is not None:
            self.outside += int(np.count_nonzero((wide < self.clip[0]) | (wide > self.clip[1])))
        finite = np.isfinite(real)
        if finite.any():
            self._histogram.see(real if finite.all() else real[finite])
        error = values - wide
        self.count += wide.size
        self.low, self.high = min(self.low, float(wide.min())), max(self.high, float(wide.max()))
        self._signal += float((wide * wide).sum())
        self._noise += float((error * error).sum())
        self._error += float(error.sum())
        self.max_abs_error = max(self.max_abs_error, float(np.abs(error).max()))

    def bars(self, count: int) -> list[int]:
        """How many finite values lie in each of so many equal parts of what lies between them."""
        seen = self._histogram
        width = (seen.high - seen.low) / count
        places = (seen.centers() - seen.low) / (width or 1.0)
        parts = np.clip(places.astype(np.int64), 0, count - 1)
        found = np.zeros(count, np.int64)
        np.add.at(found, parts, seen.counts)
        return [int(each) for each in found]

    @property
    def sqnr_db(self) -> float:
        """inf where nothing differs."""
        if not self._noise:
            return float("inf")
        return 10 * float(np.log10(max(self._signal, 1e-300) / self._noise))

    @property
    def mean_error(self) -> float:
        return self._error / max(self.count, 1)

    @property
    def mean_squared_error(self) -> float:
        return self._noise / max(self.count, 1)

    @property
    def stddev(self) -> float:
        """Of the errors."""
        return float(np.sqrt(max(self.mean_squared_error - self.mean_error**2, 0.0)))

    @property
    def rmse_per_scale(self) -> float | None:
        """TensorFlow's measure of a bad layer; rounding alone makes 0.289."""
        return None if not self.scale else float(np.sqrt(self.mean_squared_error)) / self.scale

    @property
    def outside_share(self) -> float:
        """Of values that no integer stands for."""
        return self.outside / max(self.count, 1)

    @property
    def saturated_share(self) -> float:
        return self.saturated / max(self.count, 1)


def _clip(tensor: Tensor, scale: float, zero_point: int) -> tuple[float, float]:
    limits = np.iinfo(tensor.dtype)
    return (limits.min - zero_point - 0.5) * scale, (limits.max - zero_point + 0.5) * scale


def layer_statistics(
    float_model: Model, quantized: Model, samples: Iterable[Sample]
) -> dict[Place, LayerStatistics]:
    """Of all tensors that both models compute, in the order of the float one.

    The samples are the float model's. Raises what calibrate raises for those that do not fit.
    """
    real, integer = model_interpreter(float_model), model_interpreter(quantized)
    values: dict[Place, list[np.ndarray]] = {}
    stored: dict[Place, list[np.ndarray]] = {}
    real.observe(_collector(values))
    integer.observe(_collector(stored))
    places = {_place(graph, t): t for graph in integer.subgraphs for t in graph.tensors}
    found: dict[Place, LayerStatistics] = {}
    for number, sample in enumerate(samples):
        values.clear()
        stored.clear()
        run_sample(real, sample, f"sample {number}")
        run_sample(integer, as_taken(integer, sample), f"sample {number}")
        for place, runs in values.items():
            other = next((each for each in _counterparts(place) if each in stored), place)
            others = stored.get(other, [])
            if len(others) != len(runs) or runs[0].dtype != np.float32:
                continue
            mine = found.setdefault(place, LayerStatistics(places[other]))
            for a, b in zip(runs, others, strict=True):
                if a.shape == b.shape and a.size:
                    mine.update(a, b)
    return found


def _counterparts(place: Place) -> tuple[Place, Place]:
    """The tensor of integers that stands behind a float one, and the one of its name."""
    graph, name = place
    return (graph, name + QUANTIZED), place


def _collector(into: dict[Place, list[np.ndarray]]) -> Callable[[Subgraph, Sequence[int]], None]:
    def see(subgraph: Subgraph, tensors: Sequence[int]) -> None:
        for t in tensors:
            tensor = subgraph.tensors[t] if t >= 0 else None
            if tensor is not None and tensor.type in (TensorType.FLOAT32, *_INTEGERS):
                into.setdefault(_place(subgraph, tensor), []).append(tensor.array().copy())

    return see


def _place(subgraph: Subgraph, tensor: Tensor) -> Place:
    return subgraph.index, tensor.name


def as_taken(interpreter: Interpreter, sample: Sample) -> Sample:
    """A sample with integers where the model takes them."""
    if isinstance(sample, tuple) and len(sample) == 2 and isinstance(sample[0], str):
        key, values = sample
        signature = interpreter.signatures[key]
        graph = interpreter.subgraph(signature.subgraph_index)
        return key, {name: _taken(graph.tensors[signature.inputs[name]], v) for name, v in values.items()}
    graph = interpreter.subgraph(0)
    tensors = [graph.tensors[t] for t in graph.inputs]
    if isinstance(sample, np.ndarray):
        return [_taken(tensors[0], sample)]
    if not isinstance(sample, Mapping):
        return [_taken(tensor, value) for tensor, value in zip(tensors, sample, strict=True)]
    named = {tensor.name: tensor for tensor in tensors}
    for signature in interpreter.signatures.values():
        if signature.subgraph_index == 0:
            named |= {name: graph.tensors[t] for name, t in signature.inputs.items()}
    return {name: _taken(named[name], value) for name, value in sample.items()}


def _taken(tensor: Tensor, value: object) -> np.ndarray:
    array, found = np.asarray(value), tensor.quantization
    if tensor.type not in _INTEGERS or array.dtype.kind != "f" or found is None:
        return array
    limits = np.iinfo(tensor.dtype)
    rounded = np.rint(array / found.scales[0]) + found.zero_points[0]
    return np.clip(rounded, limits.min, limits.max).astype(tensor.dtype)


def real_values(tensor: Tensor, stored: np.ndarray) -> np.ndarray:
    """The numbers that a tensor's values stand for."""
    found = tensor.quantization
    if tensor.type not in _INTEGERS or found is None or not len(found.scales):
        return stored.copy()
    return (stored.astype(np.float64) - float(found.zero_points[0])) * float(found.scales[0])
