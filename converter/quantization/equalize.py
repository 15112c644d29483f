"""equalize: channels whose values are small are scaled up, so that all of a tensor use its integers.

Given    x -> CONV_2D(w1, b1) -> a -> RELU -> b -> CONV_2D(w2) -> y        b[i] up to 6, b[j] up to 0.1
Result   x -> CONV_2D(w1 / s, b1 / s) -> a -> RELU -> b -> CONV_2D(s w2) -> y    b[i] and b[j] up to 6

A MUL by a constant for each channel takes in the factors of both its sides, which are then of their own. The
model computes what it did. Of a RELU6, channels that are scaled up are cut off at what was seen of them.
Source: Nagel et al., Data-Free Quantization (2019), section 4.1, over all sets of channels at once; for MUL
Xiao et al., SmoothQuant (2022), section 4.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...lite.tensor import TensorType
from .channel_sets import ChannelSets
from .float_graph import FloatGraph, Site, Step
from .model_editor import ModelEditor

Range = tuple[float, float]
# Lowest and highest value of each channel: float32 [2, channels].
ChannelRanges = Mapping[Site, np.ndarray]

# Channels that hardly have values are scaled no more.
LEAST_FACTOR = 1 / 64
# A channel that some samples hardly use says little of the others.
_MOST_GROWTH = 1.5
_BIAS = 2  # of filters' operands


def factors(sets: ChannelSets, channels: ChannelRanges, share: float) -> np.ndarray:
    """What each set of channels is divided by, in (0, 1]: [sets].

    share 1 makes all channels of a tensor as wide as the tensor, 0 none.
    """
    found = np.zeros(sets.count)
    for site in sorted(sets.free):
        if site not in channels:
            continue
        low, high = np.minimum(channels[site][0], 0.0), np.maximum(channels[site][1], 0.0)
        part = np.maximum(low / (low.min() or -1.0), high / (high.max() or 1.0))
        np.maximum.at(found, sets.sets[site], np.minimum(part, 1.0))
    found = np.maximum(found, LEAST_FACTOR) ** share
    seen = np.zeros(sets.count, np.bool_)
    for site in sets.free:
        if site in channels:
            seen[sets.sets[site]] = True
    found[~seen] = 1.0
    found[0] = 1.0
    return found


class _Factors:
    """What tensors' channels are divided by."""

    def __init__(self, sets: ChannelSets, found: np.ndarray) -> None:
        self._sets, self._found = sets, found

    def of(self, site: Site) -> np.ndarray | None:
        """A factor for each channel, None where all are 1."""
        own = self._sets.of(site)
        return None if own is None else self._found[own]


def equalize(
    editor: ModelEditor,
    channels: ChannelRanges,
    share: float,
    ranges: Mapping[Site, Range],
    growth: Mapping[Site, float],
) -> dict[Site, Range]:
    """Scale channels in place; the ranges of the tensors that were scaled.

    growth tells how many times as wide they are: where all channels use all of a range, any of them leaves it
    sooner than one alone did.
    """
    graph = FloatGraph(editor)
    sets = ChannelSets(graph)
    found = _Factors(sets, factors(sets, channels, share))
    for step in sets.filters:
        _scale_filter(graph, step, found)
    for step, place in sets.added:
        factor = found.of(Site(step.graph, step.outputs[0]))
        if factor is not None:
            _scale_added(graph, step, place, factor)
    for step, place in sets.scaling:
        _scale_scaling(graph, step, place, found)
    return {
        site: _scaled_range(ranges[site], channels[site], found.of(site), growth.get(site, 1.0))
        for site in sorted(sets.free)
        if site in channels and site in ranges
    }


def channel_growth(some: ChannelRanges, all: ChannelRanges) -> dict[Site, float]:
    """How many times as wide a tensor's channels are by all samples as by some, on average."""
    found = {}
    for site in some.keys() & all.keys():
        before, after = (np.maximum(r[1], 0.0) - np.minimum(r[0], 0.0) for r in (some[site], all[site]))
        ratios = after[before > 0] / before[before > 0]
        if len(ratios):
            found[site] = float(np.minimum(ratios, _MOST_GROWTH).mean())
    return found


def _scaled_range(range: Range, channels: np.ndarray, factor: np.ndarray | None, growth: float) -> Range:
    """The range after scaling, as much beyond the channels' as it was before, and so many times as wide."""
    low, high = np.minimum(channels[0], 0.0), np.maximum(channels[1], 0.0)
    scaled = (low / factor).min(), (high / factor).max()
    beyond = [
        growth * (max(end / seen, 1.0) if seen else 1.0)
        for end, seen in zip(range, (low.min(), high.max()), strict=True)
    ]
    return float(scaled[0] * beyond[0]), float(scaled[1] * beyond[1])


def _scale_filter(graph: FloatGraph, step: Step, found: _Factors) -> None:
    before = found.of(Site(step.graph, step.inputs[0]))
    after = found.of(Site(step.graph, step.outputs[0]))
    values = graph.constant(Site(step.graph, step.inputs[1])).astype(np.float64)
    if before is not None:
        values = values * np.repeat(before, values.shape[-1] // len(before))
    if after is not None:
        is_depthwise = step.name == "DEPTHWISE_CONV_2D"
        values = values / (after if is_depthwise else after.reshape((-1,) + (1,) * (values.ndim - 1)))
    if before is not None or after is not None:
        _set(graph, step, 1, values)
    if after is not None and len(step.inputs) > _BIAS and step.inputs[_BIAS] >= 0:
        bias = graph.constant(Site(step.graph, step.inputs[_BIAS]))
        _set(graph, step, _BIAS, bias / after.reshape(bias.shape))


def _scale_added(graph: FloatGraph, step: Step, place: int, factor: np.ndarray) -> None:
    values = graph.constant(Site(step.graph, step.inputs[place]))
    if values.size > 1:
        factor = factor.reshape(values.shape)
    _set(graph, step, place, values.reshape(values.shape if values.size > 1 else ()) / factor)


def _scale_scaling(graph: FloatGraph, step: Step, place: int, found: _Factors) -> None:
    """What multiplies channels takes in what they were divided by, and divides what it gives."""
    before = found.of(Site(step.graph, step.inputs[1 - place]))
    after = found.of(Site(step.graph, step.outputs[0]))
    if before is None and after is None:
        return
    values = graph.constant(Site(step.graph, step.inputs[place])).astype(np.float64)
    shape = values.shape
    of_operand, of_result = (1.0 if factor is None else factor.reshape(shape) for factor in (before, after))
    _set(graph, step, place, values * of_operand / of_result)


def _set(graph: FloatGraph, step: Step, place: int, values: np.ndarray) -> None:
    tensor = graph.tensor(Site(step.graph, step.inputs[place]))
    graph.editor.set_constant(tensor, TensorType.FLOAT32, values.astype(np.float32))
    tensor.shape = list(values.shape)
