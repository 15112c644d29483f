"""Whether a converted model computes what its graph does: random inputs through both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .model_inputs import fill_inputs

if TYPE_CHECKING:
    from ..converter.conversion import Entry


@dataclass(frozen=True)
class Difference:
    """The largest difference of one output over all inputs, and the largest value that it had."""

    signature: str
    output: str
    largest: float
    scale: float

    def __str__(self) -> str:
        return f"{self.signature} {self.output}: {self.largest:.3g} at most, values up to {self.scale:.3g}"


def differences(model: Path, entries: Sequence[Entry], count: int, seed: int = 0) -> list[Difference]:
    """Run each signature `count` times on random inputs, by the model and by its graph."""
    from ..interpreter import Interpreter

    interpreter = Interpreter(str(model))
    found = []
    for entry in entries:
        runner = interpreter.get_signature_runner(entry.key)
        pairs = [_both(runner, entry, seed + i) for i in range(count)]
        for name in entry.outputs:
            errors = [_difference(ours[name], theirs[name]) for ours, theirs in pairs]
            scales = [_largest(theirs[name]) for _, theirs in pairs]
            found.append(Difference(entry.key, name, max(errors, default=0.0), max(scales, default=0.0)))
    return found


_Arrays = Mapping[str, np.ndarray]


def _both(runner: Any, entry: Entry, seed: int) -> tuple[_Arrays, _Arrays]:
    """Outputs by name: the model's, and those of a fresh run of the graph."""
    from ..converter.execution.graph_runner import GraphRunner

    inputs = fill_inputs(runner.get_input_details(), {}, seed)
    graph = GraphRunner(entry.module)
    if entry.initializers:
        graph.run(targets=list(entry.initializers))
    feeds = {entry.inputs[name]: array for name, array in inputs.items()}
    theirs = graph.run(feeds, list(entry.outputs.values()))
    return runner(**inputs), dict(zip(entry.outputs, theirs, strict=True))


def _difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Infinite when the shapes differ, or strings."""
    if ours.shape != theirs.shape:
        return float("inf")
    if theirs.dtype.kind in "OSU":
        return 0.0 if np.array_equal(ours, theirs) else float("inf")
    wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
    a, b = ours.astype(wide), theirs.astype(wide)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        return float(np.where(same, 0.0, np.abs(a - b)).max(initial=0.0))


def _largest(values: np.ndarray) -> float:
    if values.dtype.kind not in "biufc" or values.size == 0:
        return 0.0
    return float(np.abs(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)).max())
