"""calibrate: runs a float model on representative samples and observes its tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...lite.errors import ModelError
from ...lite.interpreter import Interpreter
from .calibration import Calibration
from .channel_ranges import ChannelObserver
from .float_graph import Site
from .kept_samples import KeptSamples
from .observers import Observer, observer

if TYPE_CHECKING:
    from ...lite.subgraph import Subgraph

# Arrays in the order of the inputs, or by name; or a signature's key and arrays by name.
Sample = Sequence[Any] | Mapping[str, Any] | tuple[str, Mapping[str, Any]]


def calibrate(
    interpreter: Interpreter,
    samples: Iterable[Sample],
    sites: Iterable[Site],
    kind: str = "minmax",
    watchers: Mapping[Site, Sequence[Callable[[np.ndarray], None]]] | None = None,
    channels: ChannelObserver | None = None,
) -> Calibration:
    """What the tensors hold over all samples, of which a few are kept.

    The interpreter is that of the float model, and is left without memory. Every value counts that a tensor
    has had in the course of a run, also inside of IF and WHILE, and before an operator overwrote it in place.
    kind is an observer's; watchers get their tensors' values, channels sees what is
    observed, too. Raises ModelError where there is no
    sample, one does not fit, or a value is NaN or infinite, and what running the model raises.
    """
    watch = _Watch(
        interpreter, {site: observer(kind) for site in sites}, watchers or {}, channels or ChannelObserver()
    )
    kept = KeptSamples()
    interpreter.observe(watch)
    try:
        for number, sample in enumerate(samples):
            watch.sample = number
            run_sample(interpreter, sample, f"sample {number}")
            kept.add(sample)
    finally:
        interpreter.observe(None)
    if watch.sample < 0:
        raise ModelError("calibration: there must be samples, got none")
    seen = {site: each for site, each in watch.observers.items() if site in watch.seen}
    return Calibration(kind, seen, {site: watch.name(site) for site in seen}, kept)


class _Watch:
    """Hands values to the observers of their tensors."""

    def __init__(
        self,
        interpreter: Interpreter,
        observers: dict[Site, Observer],
        watchers: Mapping[Site, Sequence[Callable[[np.ndarray], None]]],
        channels: ChannelObserver,
    ) -> None:
        self._interpreter = interpreter
        self._watchers, self._channels = watchers, channels
        self.observers = observers
        self.seen: set[Site] = set()
        self.sample = -1

    def name(self, site: Site) -> str:
        return self._interpreter.tensor(site.tensor, site.graph).name

    def __call__(self, subgraph: Subgraph, tensors: Sequence[int]) -> None:
        for t in tensors:
            site = Site(subgraph.index, t)
            if t < 0 or not (site in self.observers or site in self._watchers):
                continue
            values = subgraph.tensors[t].array()
            if not values.size:
                continue
            low, high = self._channels.extremes(site, values)
            if not (math.isfinite(low) and math.isfinite(high)):
                _check(values, f"sample {self.sample}: tensor {self.name(site)!r}")
            for watcher in self._watchers.get(site, ()):
                watcher(values)
            if site in self.observers:
                self.seen.add(site)
                self.observers[site].update(values, low, high)


def _check(values: np.ndarray, where: str) -> None:
    wrong = values[~np.isfinite(values)]
    if wrong.size:
        raise ModelError(f"{where}: values must be finite, got {wrong[0]} ({wrong.size} of {values.size})")


def run_sample(interpreter: Interpreter, sample: Sample, where: str) -> int:
    """Run the model on a sample; the number of the subgraph that it is for.

    where says in errors which sample it is. Raises ModelError for one that does not fit.
    """
    graph, inputs = _inputs(interpreter, sample, where)
    arrays: dict[int, np.ndarray] = {}
    for t, value in inputs.items():
        tensor = interpreter.tensor(t, graph)
        array = np.asarray(value)
        if array.dtype.kind in "fiu" and tensor.dtype.kind == "f":
            array = array.astype(tensor.dtype)
            _check(array, f"{where}: input {tensor.name!r}")
        if array.shape != tensor.shape:
            _check_shape(tensor.shape, tensor.shape_signature, array.shape, f"{where}: input {tensor.name!r}")
            interpreter.resize_input(t, array.shape, subgraph_index=graph)
        arrays[t] = array
    if not interpreter.subgraph(graph).has_memory:
        interpreter.allocate_tensors(graph)
    for t, array in arrays.items():
        interpreter.set_tensor(t, array, graph)
    interpreter.invoke(graph)
    return graph


def _check_shape(
    declared: Sequence[int], signature: Sequence[int] | None, given: tuple[int, ...], where: str
) -> None:
    """ModelError where a size is not the declared one, and not free."""
    free = [size == -1 for size in signature] if signature else [False] * len(declared)
    fits = len(declared) == len(given) and all(
        is_free or a == b for is_free, a, b in zip(free, declared, given, strict=False)
    )
    if not fits:
        shown = signature if signature else declared
        raise ModelError(f"{where}: its shape must be {tuple(shown)}, got {given}")


def _inputs(interpreter: Interpreter, sample: Sample, where: str) -> tuple[int, dict[int, Any]]:
    """The subgraph that a sample is for, and its values by the numbers of their tensors."""
    signatures = interpreter.signatures
    if isinstance(sample, tuple) and len(sample) == 2 and isinstance(sample[0], str):
        key, values = sample
        if key not in signatures:
            raise ModelError(f"{where}: its signature must be of {sorted(signatures)}, got {key!r}")
        return signatures[key].subgraph_index, _named(signatures[key].inputs, values, where)
    subgraph = interpreter.subgraph(0)
    if isinstance(sample, Mapping):
        names = {subgraph.tensors[t].name: t for t in subgraph.inputs}
        for signature in signatures.values():
            if signature.subgraph_index == 0:
                names = signature.inputs if set(sample) <= set(signature.inputs) else names
        return 0, _named(names, sample, where)
    values = [sample] if isinstance(sample, np.ndarray) else list(sample)
    if len(values) != len(subgraph.inputs):
        raise ModelError(f"{where}: must have {len(subgraph.inputs)} arrays, one an input, got {len(values)}")
    return 0, dict(zip(subgraph.inputs, values, strict=True))


def _named(names: Mapping[str, int], values: Mapping[str, Any], where: str) -> dict[int, Any]:
    if set(names) != set(values):
        raise ModelError(f"{where}: its inputs must be {sorted(names)}, got {sorted(values)}")
    return {names[name]: value for name, value in values.items()}
