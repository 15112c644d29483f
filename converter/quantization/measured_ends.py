"""MeasuredEnds: how far an integer model's results lie from the float model's, sample by sample.

A result that an operator with a fixed scale makes (SOFTMAX, LOGISTIC ...) is rounded more than anything
before it. So its operand is measured, and what the float operator makes of that.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...kernels.reshape import copy_to_array
from ...lite.interpreter import Interpreter
from ...lite.model import Model
from ..model_runner import model_interpreter
from .calibrate import Sample, run_sample
from .float_graph import FloatGraph, Site, Step
from .reader_functions import Function, logistic

if TYPE_CHECKING:
    from ...lite.kernel_call import KernelCall
    from ...lite.node_context import NodeContext
    from ...lite.subgraph import Subgraph

_AS_THEY_ARE = ("RESHAPE", "SQUEEZE", "EXPAND_DIMS")
_TURNS = 16
_FILTERS = ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED")


class End(NamedTuple):
    """A tensor that is measured, what results are made of it by, and the filter that gives it, if any."""

    site: Site
    function: Function | None
    filter: Site | None


def _softmax(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


_FUNCTIONS: dict[str, Function] = {"SOFTMAX": _softmax, "LOGISTIC": logistic, "TANH": np.tanh}


def measured_ends(graph: FloatGraph) -> list[End]:
    """What is measured of a model: one for each float output."""
    found: dict[Site, End] = {}
    for site in sorted(graph.outputs):
        if site.graph in graph.entries and graph.is_float(site) and site in graph.producers:
            end = _end(graph, site)
            if _has_name_of_its_own(graph, end.site):
                found.setdefault(end.site, end)
    return list(found.values())


def _has_name_of_its_own(graph: FloatGraph, site: Site) -> bool:
    """Whether the tensor can be found again in the integer model."""
    name = graph.tensor(site).name
    tensors = graph.subgraphs[site.graph].tensors or []
    return bool(name) and sum(tensor.name == name for tensor in tensors) == 1


def _end(graph: FloatGraph, site: Site) -> End:
    step = graph.producers[site]
    function = _FUNCTIONS.get(step.name)
    if function is not None:
        site = Site(step.graph, step.inputs[0])
    last = graph.producers.get(site)
    while last is not None and last.name in _AS_THEY_ARE:
        last = graph.producers.get(Site(last.graph, last.inputs[0]))
    return End(site, function, _mendable(last))


def _mendable(step: Step | None) -> Site | None:
    """The result of a filter whose bias shifts it, and nothing else."""
    if step is None or step.name not in _FILTERS:
        return None
    return None if step.activation else Site(step.graph, step.outputs[0])


# Of each end, its values (float64) for each sample that gave it.
Values = list[list[np.ndarray]]


# Sees the values of a tensor.
Watcher = Callable[[Site, np.ndarray], None]


def end_values(
    model: Model,
    ends: Iterable[tuple[int, str]],
    samples: Iterable[Sample],
    watcher: Watcher | None = None,
    watched: Collection[int] = (),
) -> Values:
    """What a model makes of samples at tensors that are given by subgraph and name, as real numbers.

    A watcher sees all tensors that the samples of some numbers give.
    """
    interpreter = model_interpreter(model)
    sites = [_named(interpreter, graph, name) for graph, name in ends]
    reads = [_reader(interpreter, site) for site in sites]
    found: Values = [[] for _ in sites]
    # In a model of one subgraph each tensor has one value a run, which may be taken when that is over.
    copies = _Copies(interpreter, sites) if watcher is None and len(interpreter.subgraphs) == 1 else None
    number = -1

    def see(subgraph: Subgraph, tensors: Sequence[int]) -> None:
        for t in tensors:
            site = Site(subgraph.index, t)
            for place, own in enumerate(sites):
                if own == site:
                    found[place].append(reads[place](subgraph.tensors[t].array()))
            if watcher is not None and number in watched:
                watcher(site, subgraph.tensors[t].array())

    interpreter.observe(see, None if copies is None else copies.calls)
    for number, sample in enumerate(samples):
        seen = [len(values) for values in found]
        run_sample(interpreter, sample, f"sample {number}")
        for values, count, site, read in zip(found, seen, sites, reads, strict=True):
            copy = copies.value(site) if copies is not None and len(values) == count else None
            if copy is not None:
                values.append(read(copy))
    interpreter.observe(None)  # which lets go of what knows the interpreter, and so of its memory
    return found


class _Copies:
    """Copies of tensors' values that calls among those of the model make, so that it stays one native call.

    What no such call can copy, since its shape is known late or Python makes it, is left to an observer.
    """

    def __init__(self, interpreter: Interpreter, sites: Collection[Site]) -> None:
        self._interpreter, self._sites = interpreter, frozenset(sites)
        # One for each shape, since plans of shapes that there were may come back.
        self._made: dict[tuple[Site, tuple[int, ...]], np.ndarray] = {}

    def calls(self, subgraph: NodeContext, tensors: Sequence[int]) -> list[KernelCall]:
        """A Probe."""
        found = []
        for t in tensors:
            site, tensor = Site(subgraph.index, t), subgraph.tensors[t]
            if site in self._sites:
                copy = self._made.setdefault((site, tensor.shape), np.empty(tensor.shape, tensor.dtype))
                found += copy_to_array(tensor, copy)
        return found

    def value(self, site: Site) -> np.ndarray | None:
        """That of the last run, None where no call has copied it."""
        tensor = self._interpreter.tensor(site.tensor, site.graph)
        return self._made.get((site, tensor.shape))


def _named(interpreter: Interpreter, graph: int, name: str) -> Site:
    tensors = interpreter.subgraph(graph).tensors
    return Site(graph, next(t for t, tensor in enumerate(tensors) if tensor.name == name))


def _reader(interpreter: Interpreter, site: Site) -> Callable[[np.ndarray], np.ndarray]:
    """What makes real numbers of a tensor's values."""
    quantization = interpreter.tensor(site.tensor, site.graph).quantization
    scale, zero = (quantization.scales[0], quantization.zero_points[0]) if quantization else (1.0, 0)
    return lambda values: (values.astype(np.float64) - float(zero)) * float(scale)


def shift(real: list[np.ndarray], integer: list[np.ndarray]) -> np.ndarray:
    """What integer values lack on average, a channel of the last axis."""
    differences = [a - b for a, b in zip(real, integer, strict=True)]
    return np.concatenate([d.reshape(-1, d.shape[-1]) for d in differences]).mean(axis=0)


def closeness(
    end: End,
    real: list[np.ndarray],
    integer: list[np.ndarray],
    lack: np.ndarray | float = 0.0,
    of_results: bool = False,
) -> np.ndarray:
    """The SQNR in dB of an end, averaged with that of what becomes of it: by all samples, then by all but one
    for each one. lack is made good for first. of_results tells that only what becomes of it counts.

    What becomes of it hangs on few samples. So each one gets the errors of others, too, as a third figure.
    """
    errors = [b + lack - a for a, b in zip(real, integer, strict=True)]
    count = len(real)
    own = [(i, i) for i in range(count)]
    found = [_db(real, (a + e for a, e in zip(real, errors, strict=True)), own, count)]
    function = end.function
    if function is not None and all(e.shape == errors[0].shape for e in errors):
        turned = [(i, (i + turn) % count) for turn in range(min(count, _TURNS)) for i in range(count)]
        made = [function(a) for a in real]
        for pairs in (own, turned):
            others = (function(real[i] + errors[j]) for i, j in pairs)
            found.append(_db([made[i] for i, _ in pairs], others, pairs, count))
    return np.asarray(np.mean(found[1:] if of_results and found[1:] else found, axis=0))


def is_gain(before: np.ndarray, after: np.ndarray, least: float, errors: float) -> bool:
    """Whether closeness has grown by more than so many dB, and than so many of its standard errors.

    The standard error is that of the gain: a model in which one sample decides all has a large one.
    Source: Tukey's jackknife; B. Efron, The Jackknife, the Bootstrap and Other Resampling Plans (1982).
    """
    gain, *others = after - before
    count = len(others)
    error = np.std(others) * (count - 1) ** 0.5 if count > 1 else 0.0
    return bool(gain > max(least, errors * float(error)))


def sample_gains(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> np.ndarray:
    """By how many dB the squared errors of each sample fell, averaged over the ends that it gave.

    Each sample counts alike, however large its error: two models are compared sample by sample.
    """
    least = 1e-30
    gains = [10 * np.log10((a + least) / (b + least)) for a, b in zip(before, after, strict=True)]
    most = max((len(each) for each in gains), default=0)
    return np.array([np.mean([each[i] for each in gains if i < len(each)]) for i in range(most)])


def is_steady_gain(
    before: np.ndarray, after: np.ndarray, gains: np.ndarray, least: float, errors: float
) -> bool:
    """Whether samples gain more than so many dB on average, and than so many standard errors of that, while
    closeness falls by no more than its own.

    Results hang on few samples, and a gain of theirs is soon no more than chance; what a last function reads
    tells of the same models by all samples.
    """
    count = len(gains)
    error = gains.std(ddof=1) / count**0.5 if count > 1 else 0.0
    is_steady = bool(count) and bool(gains.mean() > max(least, errors * float(error)))
    return is_steady and not is_gain(after, before, 0.0, 1.0)


def _db(
    real: list[np.ndarray], found: Iterable[np.ndarray], pairs: list[tuple[int, int]], count: int
) -> np.ndarray:
    """The SQNR by all pairs of samples, and by those without each one, if there are two."""
    signal = _sums([float((a * a).sum()) for a in real], pairs, count)
    noise = _sums([float(((a - b) ** 2).sum()) for a, b in zip(real, found, strict=True)], pairs, count)
    return np.asarray(10 * np.log10((signal + 1e-30) / (noise + 1e-30)))


def _sums(values: list[float], pairs: list[tuple[int, int]], count: int) -> np.ndarray:
    numbers = np.arange(count if count > 1 else 0)[:, None, None]
    are_out = (numbers == np.array(pairs)).any(axis=2)
    total = np.array(values)
    return np.concatenate([[total.sum()], np.where(are_out, 0, total).sum(axis=1)])
