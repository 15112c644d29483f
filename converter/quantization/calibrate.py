"""calibrate: runs a float model on representative samples and observes its tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...lite.errors import InvokeError, ModelError
from ...lite.interpreter import Interpreter
from .calibration import Calibration
from .channel_ranges import ChannelObserver, SeenTensor
from .float_graph import Site
from .hessians import Watcher
from .kept_samples import KeptSamples
from .observers import MinMax, Observer, observer

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from ...lite.node_context import NodeContext
    from ...lite.subgraph import Subgraph
    from ...lite.tensor import Tensor

# Arrays in the order of the inputs, or by name; or a signature's key and arrays by name.
Sample = Sequence[Any] | Mapping[str, Any] | tuple[str, Mapping[str, Any]]
Watchers = Mapping[Site, Sequence[Watcher]]


def calibrate(
    interpreter: Interpreter,
    samples: Iterable[Sample],
    sites: Iterable[Site],
    kind: str = "minmax",
    watchers: Watchers | None = None,
    channels: ChannelObserver | None = None,
) -> Calibration:
    """What the tensors hold over all samples, of which a few are kept.

    The interpreter is that of the float model, and is left without memory. Every value counts that a tensor
    has had in the course of a run, also inside of IF and WHILE, and before an operator overwrote it in place.
    kind is an observer's; watchers get their tensors' values, channels sees what is observed, too. Raises
    ModelError where there is no sample, one does not fit, or a value is NaN or infinite, and what running
    the model raises.
    """
    kept = KeptSamples()
    number = -1

    def numbered() -> Iterator[tuple[int, Sample]]:
        nonlocal number
        for number, sample in enumerate(samples):
            yield number, sample
            kept.add(sample)

    found = calibrate_numbered(interpreter, numbered(), sites, kind, watchers, channels)
    if number < 0:
        raise ModelError("calibration: there must be samples, got none")
    found.samples = kept
    return found


def calibrate_numbered(
    interpreter: Interpreter,
    samples: Iterable[tuple[int, Sample]],
    sites: Iterable[Site],
    kind: str,
    watchers: Watchers | None = None,
    channels: ChannelObserver | None = None,
) -> Calibration:
    """As calibrate, of samples with the numbers that errors name; there may be none, and none is kept."""
    watch = _Watch(interpreter, kind, sites, watchers or {}, channels or ChannelObserver())
    watch.begin()
    try:
        for number, sample in samples:
            watch.run(number, sample)
    finally:
        interpreter.observe(None)
    found = watch.found()
    names = {site: interpreter.tensor(site.tensor, site.graph).name for site in found}
    return Calibration(kind, found, names)


class _Watch:
    """Has the values of tensors seen: by calls among those of the model where only their ends count."""

    def __init__(
        self,
        interpreter: Interpreter,
        kind: str,
        sites: Iterable[Site],
        watchers: Watchers,
        channels: ChannelObserver,
    ) -> None:
        self._interpreter = interpreter
        only_ends = kind == "minmax"
        self._calls_suffice = only_ends and not watchers
        self._entries: dict[tuple[int, int], _Entry] = {}
        wanted = frozenset(sites)
        for site in sorted(wanted.union(watchers)):
            seen = channels.watch(site, apart=not only_ends)
            own = observer(kind) if site in wanted else None
            self._entries[site] = _Entry(seen, own, watchers.get(site, ()), only_ends)
        self.sample = -1

    def begin(self) -> None:
        self._interpreter.observe(self, self._calls if self._calls_suffice else None)

    def run(self, number: int, sample: Sample) -> None:
        """Run the model on a sample."""
        self.sample = number
        try:
            run_sample(self._interpreter, sample, f"sample {self.sample}")
        except InvokeError:
            for (graph, t), entry in self._entries.items():
                if entry.seen.found_wrong:
                    self._check(self._interpreter.tensor(t, graph))
            raise

    def found(self) -> dict[Site, Observer]:
        """The observers of the tensors that had values."""
        return {Site(*site): own for site, entry in self._entries.items() if (own := entry.found())}

    def __call__(self, subgraph: Subgraph, tensors: Sequence[int]) -> None:
        for t in tensors:
            entry = self._entries.get((subgraph.index, t))
            if entry is not None and not entry.look(subgraph.tensors[t]):
                self._check(subgraph.tensors[t])

    def _calls(self, subgraph: NodeContext, tensors: Sequence[int]) -> list[KernelCall]:
        found = ((self._entries.get((subgraph.index, t)), subgraph.tensors[t]) for t in tensors)
        return [entry.seen.of(tensor.shape).call(tensor) for entry, tensor in found if entry and tensor.size]

    def _check(self, tensor: Tensor) -> None:
        _check(tensor.array(), f"sample {self.sample}: tensor {tensor.name!r}")


class _Entry(NamedTuple):
    """Who sees the values of a tensor."""

    seen: SeenTensor
    observer: Observer | None
    watchers: Sequence[Watcher]
    only_ends: bool  # of all values count

    def look(self, tensor: Tensor) -> bool:
        """See the values that the tensor has now, if any; False where one is not finite."""
        values = tensor.array()
        if not values.size:
            return True
        extremes = self.seen.of(values.shape)
        if not extremes.look(values):
            return False
        for watcher in self.watchers:
            watcher(values)
        if self.observer is not None and not self.only_ends:
            self.observer.update(values, *extremes.ends)
        return True

    def found(self) -> Observer | None:
        """The observer, with what was seen; None without values."""
        ends = self.seen.ends
        if ends is not None and self.only_ends and isinstance(self.observer, MinMax):
            self.observer.extend(*ends)
        return None if ends is None else self.observer


def _check(values: np.ndarray, where: str) -> None:
    is_finite = np.isfinite(values)
    if not is_finite.all():
        wrong = values[~is_finite]
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
            array = array.astype(tensor.dtype, copy=False)
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
