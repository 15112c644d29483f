"""improved: the mending after which an integer model is nearest to the float one, by samples.

Channels are equalized as far as it helps; ranges lose their outermost values where that helps; weights are
rounded by their inputs; biases make good for what is left on average. Half of the samples judges what is
learnt from the others. Where that is no better than nothing, nothing is done.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...lite.errors import InvokeError, ModelError, UnsupportedError
from ...lite.model import Model
from .bias_correction import filter_inputs
from .blas_threads import single_threaded_blas
from .calibrate import Sample, calibrate
from .calibration import Calibration
from .channel_ranges import ChannelObserver
from .equalize import ChannelRanges, channel_growth
from .float_graph import FloatGraph, Site
from .float_runner import float_interpreter
from .hessians import Hessians, hessian_watchers
from .histogram import Histogram
from .histogram_ranges import kept_ends
from .measured_ends import Values, closeness, end_values, measured_ends, shift
from .mending import PLAIN, Knowledge, Mending
from .model_editor import ModelEditor

_MENDING = frozenset({"equalize", "clip", "round", "bias"})
# Of `numlite quantize --improve`: what each of them may do.
IMPROVEMENTS = {
    "none": frozenset[str](),
    "bias": frozenset({"bias"}),
    "equalize": frozenset({"equalize"}),
    "softmax": frozenset({"softmax"}),
    "whole": _MENDING,
    "all": _MENDING | {"softmax"},
}
SHARES = (0.5, 1.0)
# How many times the squared error of a value outside of its range counts.
_BEYOND = (8.0, 1.0)
# A Hessian of more inputs takes longer than a model's other layers together.
_MOST_INPUTS = 1536
# What all that is done must gain, and each step that others build on, in dB; less is chance.
_LEAST_GAIN, _LEAST_STEP = 0.6, 0.3

# The integer model, with float ends, that a mending gives.
Maker = Callable[[Mending], Model]


def chosen_improvements(improve: str | None, ranges: Calibration) -> frozenset[str]:
    """What may be done; None is all that samples allow.

    UnsupportedError for another name, ModelError where it needs samples that ranges do not have.
    """
    if improve is None:
        return IMPROVEMENTS["all" if len(ranges.samples) else "none"]
    if improve not in IMPROVEMENTS:
        raise UnsupportedError(f"improve: must be of {', '.join(IMPROVEMENTS)}, got {improve!r}")
    if IMPROVEMENTS[improve] & _MENDING and not len(ranges.samples):
        raise ModelError(
            f"improve: {improve} is measured on samples, which ranges that were saved do not have; "
            "calibrate(data) keeps some"
        )
    return IMPROVEMENTS[improve]


def improved(
    model: Model, make: Maker, ranges: Calibration, what: frozenset[str], whole: Container[Site] = ()
) -> Mending:
    """The mending of a float model, in which those tensors keep their whole ranges; PLAIN where nothing
    is gained, or an integer model fails on samples."""
    if not what & _MENDING:
        return PLAIN
    try:
        with single_threaded_blas():
            return _improved(model, make, ranges, what, whole)
    except InvokeError:
        return PLAIN


def _improved(
    model: Model, make: Maker, ranges: Calibration, what: frozenset[str], whole: Container[Site]
) -> Mending:
    trials = _Trials(model, make, list(ranges.samples))
    if not trials.ends:
        return PLAIN
    mended = PLAIN
    if "equalize" in what and ranges.kind == "minmax":
        mended = trials.equalized(ranges.channels)
    if "clip" in what and ranges.kind == "minmax":
        mended = trials.clipped(mended, [site for site in ranges if site not in whole])
    if what & {"round", "bias"}:
        mended = trials.learnt(mended, what)
    return trials.refitted(trials.best([PLAIN, mended], _LEAST_GAIN))


class _Trials:
    """Integer models of several mendings, and how near they come."""

    def __init__(self, model: Model, make: Maker, samples: Sequence[Sample]) -> None:
        self._model, self._make = model, make
        self._samples = list(samples)
        numbers = list(range(len(samples)))
        self._learnt, self._judges = numbers[::2], numbers[1::2] or numbers
        graph = FloatGraph(ModelEditor(model))
        self.ends = measured_ends(graph)
        self._names = [(end.site.graph, graph.name(end.site)) for end in self.ends]
        self._real = end_values(model, self._names, self._samples)
        self._found: list[tuple[Mending, Values]] = []

    def equalized(self, channels: ChannelRanges) -> Mending:
        """The share of equalization whose error varies least; its mean is mended later."""
        if not channels:
            return PLAIN
        some = ChannelObserver(channels)
        calibrate(float_interpreter(self._model), self._of(self._learnt), channels, channels=some)
        growth = channel_growth(some.ranges, channels)
        tried = [PLAIN, *(Mending(share, channels, growth) for share in SHARES)]
        return self.best(tried, _LEAST_STEP, with_lack=True)

    def clipped(self, mending: Mending, sites: Sequence[Site]) -> Mending:
        """With the ranges of the tensors by which the error varies least."""
        if not sites:
            return mending
        histograms = {site: Histogram() for site in sites}
        watchers: dict[Site, list[Any]] = {site: [each.see] for site, each in histograms.items()}
        self._watch(self._edited(mending), watchers, self._of(self._learnt))
        tried = [mending, *(replace(mending, kept=kept_ends(histograms, beyond)) for beyond in _BEYOND)]
        return self.best(tried, _LEAST_STEP, with_lack=True)

    def _of(self, numbers: Sequence[int]) -> list[Sample]:
        return [self._samples[i] for i in numbers]

    def learnt(self, mending: Mending, what: frozenset[str]) -> Mending:
        """With what the samples that do not judge say of weights and biases."""
        made = replace(mending, knowledge=self._knowledge(mending, what))
        return replace(made, shifts=self._shifts(made)) if "bias" in what else made

    def refitted(self, mending: Mending) -> Mending:
        """With shifts learnt from all samples."""
        if not mending.shifts:
            return mending
        self._learnt = list(range(len(self._samples)))
        return replace(mending, shifts=self._shifts(replace(mending, shifts={})))

    def _shifts(self, mending: Mending) -> dict[Site, np.ndarray]:
        """Of last filters: what results lack."""
        shifts = {}
        for end, real, integer in zip(self.ends, self._real, self._values(mending), strict=True):
            lack = self._lack(real, integer) if end.filter is not None else None
            if end.filter is not None and lack is not None:
                shifts[end.filter] = lack
        return shifts

    def best(self, tried: Sequence[Mending], gain: float = 0.0, with_lack: bool = False) -> Mending:
        """The mending that the judges find nearest; it must be so by gain (dB) beside those before it."""
        chosen, most = tried[0], self._closeness(tried[0], with_lack)
        for mending in tried[1:]:
            found = self._closeness(mending, with_lack)
            if found > most + gain:
                chosen, most = mending, found
        return chosen

    def _closeness(self, mending: Mending, with_lack: bool) -> float:
        values = self._values(mending)
        found = []
        for end, real, integer in zip(self.ends, self._real, values, strict=True):
            lack = self._lack(real, integer) if with_lack else None
            pairs = [(real[i], integer[i]) for i in self._judges if i < len(real)]
            if pairs:
                a, b = (list(side) for side in zip(*pairs, strict=True))
                found.append(closeness(end, a, b, 0.0 if lack is None else lack))
        return float(np.mean(found)) if found else 0.0

    def _lack(self, real: list[np.ndarray], integer: list[np.ndarray]) -> np.ndarray | None:
        places = [i for i in self._learnt if i < len(real)]
        if not places or any(real[i].shape[-1:] != real[places[0]].shape[-1:] for i in places):
            return None
        found = shift([real[i] for i in places], [integer[i] for i in places])
        return found if np.isfinite(found).all() else None

    def _values(self, mending: Mending) -> Values:
        """What the mending's integer model gives at the ends, for all samples."""
        for known, values in self._found:
            if known.is_same(mending):
                return values
        found = end_values(self._make(mending), self._names, self._samples)
        self._found.append((mending, found))
        return found

    def _knowledge(self, mending: Mending, what: frozenset[str]) -> Knowledge:
        """What the samples that are learnt from say of the inputs of filters, in the mended float model."""
        model = self._edited(mending)
        graph = FloatGraph(ModelEditor(model))
        hessians: Hessians = {}
        watchers: dict[Site, list[Any]] = {}
        if "round" in what:
            watchers = {site: list(w) for site, w in hessian_watchers(graph, hessians, _MOST_INPUTS).items()}
        inputs = filter_inputs(graph) if "bias" in what else []
        for each in inputs:
            watchers.setdefault(each.site, []).append(each.update)
        self._watch(model, watchers, self._of(self._learnt))
        means = {each.result: found for each in inputs if (found := each.means()) is not None}
        return Knowledge(means, hessians)

    def _edited(self, mending: Mending) -> Model:
        """The mended float model."""
        editor = ModelEditor(self._model)
        mending.edit(editor, {})
        return Model(editor.finish().content())

    @staticmethod
    def _watch(model: Model, watchers: dict[Site, list[Any]], samples: Sequence[Sample]) -> None:
        calibrate(float_interpreter(model), samples, (), watchers=watchers)
