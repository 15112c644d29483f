"""improved: the mending after which an integer model is nearest to the float one, by samples.

Channels are equalized as far as it helps; ranges lose their outermost values where that helps; weights are
rounded by their inputs; biases make good for what is left on average. Half of the samples judges what is
learnt from the others. Where all of it gains no more than other samples might have shown by chance, nothing
is done.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ...lite.errors import InvokeError, ModelError, UnsupportedError
from ...lite.model import Model
from ..model_runner import model_interpreter
from .bias_correction import filter_inputs
from .blas_threads import single_threaded_blas
from .calibrate import Sample, calibrate
from .calibration import Calibration
from .channel_ranges import ChannelObserver
from .equalize import ChannelRanges, channel_growth
from .float_graph import FloatGraph, Site
from .hessians import HessianSums
from .histogram import Histogram
from .histogram_ranges import kept_ends
from .last_ranges import last_ranges
from .measured_ends import (
    End,
    Values,
    closeness,
    end_values,
    is_gain,
    is_steady_gain,
    measured_ends,
    sample_gains,
    shift,
)
from .mended_models import MendedModels
from .mending import PLAIN, Knowledge, Mending
from .model_editor import ModelEditor
from .propagate import Range
from .reader_functions import reader_functions

_MENDING = frozenset({"lengths", "equalize", "clip", "round", "bias"})
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
# What all that is done must gain, in dB and in standard errors; what a step must that others build on.
# Of n samples one that decides alone shows a gain of n / (n - 1) standard errors.
_LEAST_GAIN, _LEAST_ERRORS, _LEAST_STEP = 0.6, 1.2, 0.3
# How many standard errors a step may lose that has reasons of its own: fewer operators, or more than the
# judges know; and what a gain must be that is told by tensors before the results.
_MOST_ERRORS = 2.0
# And by the best of many ranges, the gain of which is above 0 by choice: chance gives so much once in twenty.
_FIT_ERRORS = 1.64

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


class Limits(NamedTuple):
    """Which tensors keep their whole ranges, and which are of normalizations that may be L2_NORMALIZATION."""

    whole: Collection[Site] = ()
    lengths: Collection[Site] = ()


NO_LIMITS = Limits()


def improved(
    models: MendedModels, make: Maker, ranges: Calibration, what: frozenset[str], limits: Limits = NO_LIMITS
) -> Mending:
    """The mending of a float model; PLAIN where nothing is gained, or an integer model fails on samples."""
    if not what & _MENDING:
        return PLAIN
    try:
        with single_threaded_blas():
            return _improved(models, make, ranges, what, limits)
    except InvokeError:
        return PLAIN


def _improved(
    models: MendedModels, make: Maker, ranges: Calibration, what: frozenset[str], limits: Limits
) -> Mending:
    channels = ranges.channels if "equalize" in what and ranges.kind == "minmax" else {}
    trials = _Trials(models, make, list(ranges.samples), channels)
    if not trials.ends:
        return PLAIN
    mended = PLAIN
    if "lengths" in what and limits.lengths:
        mended = trials.unless_worse(PLAIN, Mending(frozenset(limits.lengths)))
    least = mended
    mended = trials.equalized(mended)
    if "clip" in what and ranges.kind == "minmax":
        mended = trials.clipped(mended, [site for site in ranges if site not in limits.whole], what)
    if what & {"round", "bias"}:
        mended = trials.rounded(mended, what)
    mended = trials.shifted(least, mended, "bias" in what)
    return trials.fitted(mended, ranges, limits) if "clip" in what else mended


class _Trials:
    """Integer models of several mendings, and how near they come. channels are those of tensors that may be
    equalized."""

    def __init__(
        self, models: MendedModels, make: Maker, samples: Sequence[Sample], channels: ChannelRanges
    ) -> None:
        self._models, self._model, self._make = models, models.model, make
        self._samples = list(samples)
        numbers = list(range(len(samples)))
        self._learnt, self._judges = numbers[::2], numbers[1::2] or numbers
        graph = FloatGraph(ModelEditor(self._model))
        self.ends = measured_ends(graph)
        self._names = [(end.site.graph, graph.name(end.site)) for end in self.ends]
        self._channels, self._seen = channels, ChannelObserver(channels)
        self._real = end_values(self._model, self._names, self._samples, self._see, self._learnt)
        self._mendable = frozenset(place for place, end in enumerate(self.ends) if end.filter is not None)
        self._found: list[tuple[Mending, Values]] = []
        self._known: Knowledge | None = None

    def _see(self, site: Site, values: np.ndarray) -> None:
        if site in self._channels and values.size:
            self._seen.watch(site).of(values.shape).look(values)

    def equalized(self, mending: Mending) -> Mending:
        """With the share of equalization whose error varies least; its mean is mended later."""
        channels = self._channels
        if not channels:
            return mending
        growth = channel_growth(self._seen.ranges, channels)
        shared = (replace(mending, share=share, channels=channels, growth=growth) for share in SHARES)
        return self.measured([mending, *shared])

    def clipped(self, mending: Mending, sites: Sequence[Site], what: frozenset[str]) -> Mending:
        """With the ranges of the tensors by which the error varies least."""
        if not sites:
            return mending
        model, moved = self._edited(mending)
        histograms = {site: Histogram() for site in sites if site in moved}
        watchers: dict[Site, list[Any]] = {moved[site]: [each.see] for site, each in histograms.items()}
        # Whatever ranges become, filters have these inputs.
        inputs = _FilterInputs(model, moved, what)
        self._watch(model, inputs.watchers(watchers), self._of(self._learnt))
        self._known = inputs.knowledge() if what & {"round", "bias"} else None
        functions = reader_functions(FloatGraph(ModelEditor(self._model)))
        some = {site: histograms[site] for site in functions.keys() & histograms.keys()}
        kept = [kept_ends(some, _BEYOND[0], functions)] if some else []
        kept += [kept_ends(histograms, beyond, functions) for beyond in _BEYOND]
        return self.measured([mending, *(replace(mending, kept=each) for each in kept)])

    def _of(self, numbers: Sequence[int]) -> list[Sample]:
        return [self._samples[i] for i in numbers]

    def rounded(self, mending: Mending, what: frozenset[str]) -> Mending:
        """With what samples say of weights and biases, unless that makes it worse."""
        known = self._known or self.knowledge(mending, what)
        return self.unless_worse(mending, replace(mending, knowledge=known))

    def unless_worse(self, mending: Mending, other: Mending) -> Mending:
        """The other mending, which there are reasons for, unless the judges find it much worse."""
        before, after = (self._closeness(each, self._mendable) for each in (mending, other))
        return mending if is_gain(after, before, _LEAST_GAIN, _MOST_ERRORS) else other

    def shifted(self, least: Mending, mending: Mending, with_shifts: bool) -> Mending:
        """The mending, perhaps with shifts that all samples teach; the least where it gains too little."""
        if not self._gains(least, mending, self._mendable if with_shifts else frozenset()):
            return least
        self._learnt = list(range(len(self._samples)))
        return replace(mending, shifts=self._shifts(mending)) if with_shifts else mending

    def fitted(self, mending: Mending, ranges: Mapping[Site, Range], limits: Limits) -> Mending:
        """With other ranges of what last functions read, where that is nearer."""
        kept = {site: mending.kept.get(site, (1.0, 1.0)) for site in ranges}
        held = {site: (ranges[site][0] * low, ranges[site][1] * high) for site, (low, high) in kept.items()}
        fits = last_ranges(self.ends, self._real, self._values(mending), held, limits.whole)
        if not fits:
            return mending
        fitted = {site: (kept[site][0] * low, kept[site][1] * high) for site, (low, high) in fits.items()}
        other = replace(mending, kept={**mending.kept, **fitted}, shifts={})
        if mending.shifts:
            other = replace(other, shifts=self._shifts(other))
        # A range that ends before the least values is far from them, and near to what becomes of them.
        before, after = (self._closeness(each, of_results=True) for each in (mending, other))
        return other if is_gain(before, after, _LEAST_GAIN, _FIT_ERRORS) else mending

    def _gains(self, least: Mending, mending: Mending, shifted: Collection[int]) -> bool:
        """Whether a mending is nearer than the least by more than chance."""
        before, after = self._closeness(least), self._closeness(mending, shifted)
        gains = sample_gains(self._noise(least, ()), self._noise(mending, shifted))
        return is_gain(before, after, _LEAST_GAIN, _LEAST_ERRORS) or is_steady_gain(
            before, after, gains, _LEAST_GAIN, _MOST_ERRORS
        )

    def _shifts(self, mending: Mending) -> dict[Site, np.ndarray]:
        """Of last filters: what results lack."""
        shifts = {}
        for end, real, integer in zip(self.ends, self._real, self._values(mending), strict=True):
            lack = self._lack(real, integer) if end.filter is not None else None
            if end.filter is not None and lack is not None:
                shifts[end.filter] = lack
        return shifts

    def measured(self, tried: Sequence[Mending]) -> Mending:
        """The mending that the judges find nearest, when what results lack on average is made good for; it
        must be so by a step beside those before it."""
        every = frozenset(range(len(self.ends)))
        chosen, most = tried[0], self._closeness(tried[0], every)
        for mending in tried[1:]:
            found = self._closeness(mending, every)
            if found[0] > most[0] + _LEAST_STEP:
                chosen, most = mending, found
        return chosen

    def _closeness(
        self, mending: Mending, shifted: Collection[int] = (), of_results: bool = False
    ) -> np.ndarray:
        """What the judges find, in dB, and what they do without each one of them; of the ends at those
        places, what they lack is made good for."""
        found = []
        for end, real, integer, lack in self._judged(mending, shifted):
            own = closeness(end, real, integer, lack, of_results)
            # Those who never saw the end change nothing there.
            found.append(np.append(own, np.full(1 + len(self._judges) - len(own), own[0])))
        return np.mean(found, axis=0) if found else np.zeros(1 + len(self._judges))

    def _noise(self, mending: Mending, shifted: Collection[int]) -> list[np.ndarray]:
        """The squared error of each end for each judge who saw it."""
        return [
            np.array([float(((b + lack - a) ** 2).sum()) for a, b in zip(real, integer, strict=True)])
            for _, real, integer, lack in self._judged(mending, shifted)
        ]

    def _judged(self, mending: Mending, shifted: Collection[int]) -> Iterator[_Judged]:
        for place, (end, real, integer) in enumerate(
            zip(self.ends, self._real, self._values(mending), strict=True)
        ):
            lack = self._lack(real, integer) if place in shifted else None
            judges = [i for i in self._judges if i < len(real)]
            if judges:
                own, other = ([values[i] for i in judges] for values in (real, integer))
                yield _Judged(end, own, other, 0.0 if lack is None else lack)

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

    def knowledge(self, mending: Mending, what: frozenset[str]) -> Knowledge:
        """What the samples that are learnt from say of the inputs of filters, in the mended float model."""
        inputs = _FilterInputs(*self._edited(mending), what)
        self._watch(inputs.model, inputs.watchers({}), self._of(self._learnt))
        return inputs.knowledge()

    def _edited(self, mending: Mending) -> tuple[Model, dict[Site, Site]]:
        """The mended float model, and where in it the tensors are that it still has."""
        editor = self._models.made(mending).editor
        places = [{id(tensor): t for t, tensor in enumerate(s.tensors or [])} for s in editor.subgraphs]
        made = Model(editor.finish().view())
        moved = {}
        for number, subgraph in enumerate(editor.subgraphs):
            for new, tensor in enumerate(subgraph.tensors or []):
                moved[Site(number, places[number][id(tensor)])] = Site(number, new)
        return made, moved

    @staticmethod
    def _watch(model: Model, watchers: dict[Site, list[Any]], samples: Sequence[Sample]) -> None:
        calibrate(model_interpreter(model), samples, (), watchers=watchers)


class _Judged(NamedTuple):
    """What the judges find of an end: the float model's values and an integer one's, and what these lack."""

    end: End
    real: list[np.ndarray]
    integer: list[np.ndarray]
    lack: np.ndarray | float


class _FilterInputs:
    """Sees the inputs of a mended model's filters; moved tells where the float model's tensors are in it."""

    def __init__(self, model: Model, moved: Mapping[Site, Site], what: frozenset[str]) -> None:
        self.model, self._moved = model, moved
        graph = FloatGraph(ModelEditor(model))
        # float32 holds what so few samples sum up to.
        self._hessians = HessianSums(graph, _MOST_INPUTS, np.float32) if "round" in what else None
        self._means = filter_inputs(graph) if "bias" in what else []

    def watchers(self, others: Mapping[Site, list[Any]]) -> dict[Site, list[Any]]:
        """Those who see, by tensors, besides others."""
        found = {site: list(own) for site, own in others.items()}
        for site, own in self._hessians.watchers.items() if self._hessians is not None else ():
            found.setdefault(site, []).extend(own)
        for each in self._means:
            found.setdefault(each.site, []).append(each.update)
        return found

    def knowledge(self) -> Knowledge:
        """What was seen."""
        before = {new: old for old, new in self._moved.items()}
        means = {before[each.result]: found for each in self._means if (found := each.means()) is not None}
        return Knowledge(means, {} if self._hessians is None else self._hessians.found())
