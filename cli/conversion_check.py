"""Whether a converted model computes what its graph does: random inputs through both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..schema.shown import shown
from .model_inputs import fill_inputs

if TYPE_CHECKING:
    from ..converter.conversion import Entry
    from ..converter.execution.graph_runner import GraphRunner


@dataclass(frozen=True)
class Difference:
    """The largest difference of one output over all inputs, and the largest value that it had.

    The difference is infinite where shapes or strings differ, or only one value is NaN or infinite; the
    largest value of strings is NaN.
    """

    signature: str
    output: str
    largest: float
    scale: float

    def __str__(self) -> str:
        if np.isinf(self.largest):
            verdict = "DIFFERS in a shape, a string, or where values are not finite"
        elif np.isnan(self.scale):
            verdict = "equal strings"
        else:
            verdict = f"differs by {self.largest:.3g} at most, values up to {self.scale:.3g}"
        return f"{shown(self.signature)} {shown(self.output)}: {verdict}"


def differences(model: Path, entries: Sequence[Entry], count: int, seed: int = 0) -> list[Difference]:
    """Run each signature `count` times on random inputs, by the model and by its graph.

    State starts afresh with each signature and lasts over its runs, on both sides.
    """
    from ..converter.execution.graph_runner import GraphRunner
    from ..interpreter import Interpreter

    found = []
    for entry in entries:
        runner = Interpreter(str(model)).get_signature_runner(entry.key)
        graph = GraphRunner(entry.module)
        if entry.initializers:
            graph.run(targets=list(entry.initializers))
        pairs = [_both(runner, graph, entry, seed + i) for i in range(count)]
        for name in entry.outputs:
            errors = [_difference(ours[name], theirs[name]) for ours, theirs in pairs]
            scales = [_largest(theirs[name]) for _, theirs in pairs]
            found.append(Difference(entry.key, name, max(errors, default=0.0), max(scales, default=0.0)))
    return found


_Arrays = Mapping[str, np.ndarray]


def _both(runner: Any, graph: GraphRunner, entry: Entry, seed: int) -> tuple[_Arrays, _Arrays]:
    """Outputs by name: the model's, and the graph's."""
    inputs = fill_inputs(runner.get_input_details(), {}, seed)
    feeds = {entry.inputs[name]: array for name, array in inputs.items()}
    theirs = [_array(value) for value in graph.run(feeds, list(entry.outputs.values()))]
    ours = {name: _array(value) for name, value in runner(**inputs).items()}
    return ours, dict(zip(entry.outputs, theirs, strict=True))


def _array(value: object) -> np.ndarray:
    """An array, for a scalar one of rank 0."""
    # Of NumPy's own bytes an array would lose the NULs at their end.
    return np.array(bytes(value), object) if isinstance(value, bytes) else np.asarray(value)


def _difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Infinite when shapes or strings differ, or only one value is NaN or infinite."""
    if ours.shape != theirs.shape:
        return float("inf")
    if theirs.dtype.kind in "OSU":
        return 0.0 if np.array_equal(ours, theirs) else float("inf")
    wide = np.complex128 if theirs.dtype.kind == "c" else np.float64
    a, b = ours.astype(wide), theirs.astype(wide)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(a - b))
    return float(np.where(np.isnan(apart), np.inf, apart).max(initial=0.0))


def _largest(values: np.ndarray) -> float:
    if values.dtype.kind in "OSU":
        return float("nan")
    sizes = np.abs(values.astype(np.complex128 if values.dtype.kind == "c" else np.float64))
    return float(sizes[~np.isnan(sizes)].max(initial=0.0))
