"""What UNIDIRECTIONAL_SEQUENCE_LSTM and SVDF hold inside: tensors for it in the file, and their ranges.

Kernels of integers ask for the scales of what lies between an LSTM's steps: its cell, its results before the
projection, and with layer normalization the sums of its gates. No tensor of the float model has these values:
they are computed once more, by NumPy, from what the operator reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ...lite.tensor import TensorType
from ...schema import tflite
from .float_graph import FloatGraph, Site, Step
from .hessians import Watcher
from .model_editor import ModelEditor
from .observers import MinMax

LSTM, SVDF = "UNIDIRECTIONAL_SEQUENCE_LSTM", "SVDF"
# Places of an LSTM's tensors, for the gates input, forget, cell, output; the cell's has no peephole.
WEIGHTS, RECURRENT, PEEPHOLE, BIAS, NORM = 1, 5, 9, 12, 20
PROJECTION, PROJECTION_BIAS, OUTPUT_STATE, CELL_STATE = 16, 17, 18, 19
# Of its intermediate tensors, behind those of the gates' sums.
HIDDEN = 4
FEATURES, SVDF_STATE = 1, 4
GATES = ("input", "forget", "cell", "output")
_PEEPHOLES = {"input": 0, "forget": 1, "output": 2}
_LEAST_VARIANCE = 1e-8


def given(operands: Any, place: int) -> int:
    """The tensor at a place, -1 where there is none."""
    return int(operands[place]) if operands is not None and place < len(operands) else -1


def add_inner_tensors(editor: ModelEditor) -> int:
    """Give float LSTMs the intermediate tensors of integer ones, in place; how many got them."""
    count = 0
    for subgraph in editor.subgraphs:
        for operator, name in editor.operators(subgraph):
            if name == LSTM and given(operator.intermediates, HIDDEN) < 0:
                operator.intermediates = _inner_tensors(subgraph, operator)
                count += 1
    return count


def _inner_tensors(subgraph: tflite.SubGraphT, operator: tflite.OperatorT) -> list[int]:
    """One for each gate's sums, and HIDDEN; without layer normalization nothing reads the first four."""
    tensors = subgraph.tensors
    assert tensors is not None

    def added(name: str) -> int:
        tensors.append(tflite.TensorT(name=name, shape=[0], type=TensorType.FLOAT32))
        return len(tensors) - 1

    hidden = added("effective_hidden_scale_intermediate")
    if given(operator.inputs, NORM + 1) < 0:
        return [hidden] * (HIDDEN + 1)
    return [*(added(f"input_to_{name}_intermediate") for name in GATES), hidden]


def inner_sites(step: Step) -> list[Site]:
    """The tensors inside of a recurrent operator whose ranges its integers ask for; none of another's."""
    if step.name == SVDF:
        return [Site(step.graph, given(step.inputs, SVDF_STATE))]
    if step.name != LSTM:
        return []
    kept = [given(step.operator.intermediates, HIDDEN)]
    if given(step.inputs, NORM + 1) >= 0:
        first = 0 if given(step.inputs, WEIGHTS) >= 0 else 1
        kept += [given(step.operator.intermediates, gate) for gate in range(first, HIDDEN)]
    return [Site(step.graph, t) for t in (given(step.inputs, CELL_STATE), *kept)]


def inner_watchers(graph: FloatGraph, found: dict[Site, MinMax]) -> dict[Site, list[Watcher]]:
    """Who has to see which tensors, so that found tells what lies inside of operators of constant weights."""
    watchers: dict[Site, list[Watcher]] = {}
    for step in graph.steps:
        needed = {LSTM: (*range(2, 5), *range(6, 9)), SVDF: (FEATURES,)}.get(step.name, ())
        sites = [Site(step.graph, t) for t in step.inputs]
        if not needed or not all(sites[p].tensor >= 0 and graph.is_constant(sites[p]) for p in needed):
            continue
        run = _Lstm(graph, step).run if step.name == LSTM else partial(_features, graph, step)
        watchers.setdefault(sites[0], []).append(partial(_note, run, found))
    return watchers


def _note(run: Callable[[np.ndarray], Iterator[Any]], found: dict[Site, MinMax], x: np.ndarray) -> None:
    for site, values in run(x):
        if site.tensor >= 0 and values.size:
            found.setdefault(site, MinMax()).extend(float(values.min()), float(values.max()))


def _features(graph: FloatGraph, step: Step, x: np.ndarray) -> Iterator[tuple[Site, np.ndarray]]:
    """What enters an SVDF's state."""
    features = graph.constant(Site(step.graph, step.inputs[FEATURES]))
    yield Site(step.graph, given(step.inputs, SVDF_STATE)), x @ features.T


class _Lstm:
    """An LSTM as it goes through its steps; its states outlive a run, as the operator's do, unless they are
    set in each."""

    def __init__(self, graph: FloatGraph, step: Step) -> None:
        self._step, self._options = step, step.operator.builtin_options
        self._values = [
            graph.constant(site) if t >= 0 and graph.is_constant(site := Site(step.graph, t)) else None
            for t in step.inputs
        ]
        self._cell_site = Site(step.graph, given(step.inputs, CELL_STATE))
        self._begins_anew = Site(step.graph, given(step.inputs, OUTPUT_STATE)) in graph.producers
        self._state: np.ndarray | None = None
        self._cell: np.ndarray = np.zeros(0)

    def run(self, x: np.ndarray) -> Iterator[tuple[Site, np.ndarray]]:
        """The values of each inner tensor, step by step; x is the operator's input."""
        steps = x if getattr(self._options, "time_major", False) else x.swapaxes(0, -2)
        steps = steps.reshape(-1, *steps.shape[-2:]) if x.ndim == 3 else x[np.newaxis]
        weights = self._value(WEIGHTS + 3)
        assert weights is not None
        if self._state is None or self._begins_anew or len(self._state) != steps.shape[1]:
            recurrent = self._value(RECURRENT + 3)
            assert recurrent is not None
            self._state = np.zeros((steps.shape[1], recurrent.shape[-1]), np.float32)
            self._cell = np.zeros((steps.shape[1], len(weights)), np.float32)
        for now in steps:
            yield from self._advance(now)

    def _advance(self, x: np.ndarray) -> Iterator[tuple[Site, np.ndarray]]:
        gates: dict[str, np.ndarray] = {}
        for name in ("input", "forget", "cell"):
            if self._value(WEIGHTS + GATES.index(name)) is not None:
                sums = self._sums(name, x)
                yield self._inner(GATES.index(name)), sums
                gates[name] = self._opened(name, sums)
        enter = gates.get("input", 1 - gates["forget"])
        self._cell = gates["forget"] * self._cell + enter * gates["cell"]
        self._cell = _clipped(self._cell, getattr(self._options, "cell_clip", 0.0))
        yield self._cell_site, self._cell
        sums = self._sums("output", x)
        yield self._inner(GATES.index("output")), sums
        hidden = self._opened("output", sums) * np.tanh(self._cell)
        yield self._inner(HIDDEN), hidden
        projection, bias = self._value(PROJECTION), self._value(PROJECTION_BIAS)
        if projection is not None:
            hidden = hidden @ projection.T + (0 if bias is None else bias)
            hidden = _clipped(hidden, getattr(self._options, "proj_clip", 0.0))
        self._state = hidden

    def _sums(self, name: str, x: np.ndarray) -> np.ndarray:
        """What goes into a gate, without its bias where that comes behind a normalization."""
        gate = GATES.index(name)
        weights, recurrent = self._value(WEIGHTS + gate), self._value(RECURRENT + gate)
        assert weights is not None
        assert recurrent is not None
        assert self._state is not None
        sums = x @ weights.T + (self._state * recurrent if recurrent.ndim == 1 else self._state @ recurrent.T)
        peephole = self._value(PEEPHOLE + _PEEPHOLES[name]) if name in _PEEPHOLES else None
        if peephole is not None:
            sums = sums + self._cell * peephole
        return sums if self._value(NORM + gate) is not None else sums + self._value(BIAS + gate)

    def _opened(self, name: str, sums: np.ndarray) -> np.ndarray:
        gate = GATES.index(name)
        norm, bias = self._value(NORM + gate), self._value(BIAS + gate)
        if norm is not None:
            centred = sums - sums.mean(axis=-1, keepdims=True)
            deviation = np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + _LEAST_VARIANCE)
            sums = centred / deviation * norm + bias
        found = np.tanh(sums) if name == "cell" else 0.5 * (1 + np.tanh(sums / 2))
        return np.asarray(found)

    def _value(self, place: int) -> np.ndarray | None:
        return self._values[place] if place < len(self._values) else None

    def _inner(self, place: int) -> Site:
        """Of a gate without layer normalization nothing is kept."""
        is_kept = place == HIDDEN or self._value(NORM + 1) is not None
        inner = given(self._step.operator.intermediates, place) if is_kept else -1
        return Site(self._step.graph, inner)


def _clipped(values: np.ndarray, most: float) -> np.ndarray:
    return np.clip(values, -most, most) if most > 0 else values
