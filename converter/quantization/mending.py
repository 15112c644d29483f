"""Mending: what is changed in a float model, and in its rounding, so that the integer one errs less."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from .balanced_rounding import balanced
from .equalize import ChannelRanges, equalize
from .float_graph import FloatGraph, Site, Step, replace_operand
from .gptq import gptq
from .hessians import Hessians
from .model_editor import ModelEditor
from .parameters import Parameters
from .propagate import Range
from .unit_lengths import normalize_lengths
from .weights import nearest_integers

_BIAS = 2


@dataclass(frozen=True)
class Knowledge:
    """What samples said of the inputs of filters: means by the operator's first result, and Hessians.

    rounded are the integers that followed, by filter and scales: they cost more than all the rest.
    """

    means: Mapping[Site, np.ndarray]
    hessians: Hessians
    rounded: dict[tuple[int, str, bytes], np.ndarray] = field(default_factory=dict)

    def knows(self, filter: tuple[int, str]) -> bool:
        """Whether a filter's integers are not simply the nearest."""
        hessian = self.hessians.get(filter)
        return hessian is not None and bool(hessian[-1, -1])

    def rounding(self, filter: tuple[int, str], values: np.ndarray, parameters: Parameters) -> np.ndarray:
        """A filter's integers: to nearest, or by its Hessian."""
        if not self.knows(filter):
            return nearest(values, parameters)
        hessian = self.hessians[filter]
        key = (*filter, parameters.scales.tobytes())
        if key not in self.rounded:
            rows, seen = values.reshape(len(values), -1), float(hessian[-1, -1])
            scales = np.broadcast_to(parameters.scales[:, None], (len(rows), 1))
            trust = seen / (seen + rows.shape[1])
            found = gptq(rows, scales, parameters.integers, hessian[:-1, :-1], trust)
            self.rounded[key] = found.reshape(values.shape)
        return self.rounded[key]


def nearest(values: np.ndarray, parameters: Parameters) -> np.ndarray:
    """A filter's integers, to nearest; below 8 bits errors of a channel (the first axis) cancel."""
    if parameters.integers.bits >= 8:
        return nearest_integers(values, parameters)
    rows = values.reshape(len(values), -1)
    scales = np.broadcast_to(parameters.scales, (len(rows),))
    return balanced(rows, scales, parameters.integers).reshape(values.shape)


NOTHING_KNOWN = Knowledge({}, {})


@dataclass(frozen=True)
class Mending:
    """lengths are results of normalizations that become L2_NORMALIZATION; share tells how far channels are
    equalized (0: not), with their ranges and what these are expected to grow by; kept is what is left of both
    ends of tensors' ranges; knowledge rounds weights and corrects biases; shifts are added to biases of
    operators, by their first result, a value a channel."""

    lengths: frozenset[Site] = frozenset()
    share: float = 0.0
    channels: ChannelRanges = field(default_factory=dict)
    growth: Mapping[Site, float] = field(default_factory=dict)
    kept: Mapping[Site, Range] = field(default_factory=dict)
    knowledge: Knowledge = NOTHING_KNOWN
    shifts: Mapping[Site, np.ndarray] = field(default_factory=dict)

    # The fields that change the constants of many operators.
    SCALING: ClassVar = ("lengths", "share", "channels", "growth")

    def __str__(self) -> str:
        done = ["normalizations by length"] if self.lengths else []
        done += [f"channels equalized by {self.share:g}"] if self.share else []
        done += ["ranges without their outermost values"] if self.kept else []
        done += ["weights rounded by their inputs"] if self.knowledge.hessians else []
        done += ["biases corrected"] if self.knowledge.means or self.shifts else []
        return ", ".join(done) or "not improved"

    def is_same(self, other: Mending) -> bool:
        """Whether both do the same, as far as can be told without comparing arrays."""
        return (
            self.lengths == other.lengths
            and self.share == other.share
            and (not self.share or (self.channels is other.channels and self.growth is other.growth))
            and self.kept == other.kept
            and self.knowledge is other.knowledge
            and (self.shifts is other.shifts or not (self.shifts or other.shifts))
        )

    def edit(self, editor: ModelEditor, ranges: Mapping[Site, Range]) -> dict[Site, Range]:
        """Change the float model in place; the ranges of tensors that are to have others."""
        if self.lengths:
            normalize_lengths(editor, self.lengths)
        changed = equalize(editor, self.channels, self.share, ranges, self.growth) if self.share else {}
        return self.edit_further(editor, ranges, changed)

    def edit_further(
        self, editor: ModelEditor, ranges: Mapping[Site, Range], changed: Mapping[Site, Range]
    ) -> dict[Site, Range]:
        """Change a model that has been scaled so already, in place; scaling has changed such ranges."""
        changed = dict(changed)
        for site, (low, high) in self.kept.items():
            if site in ranges:
                before = changed.get(site, ranges[site])
                changed[site] = before[0] * low, before[1] * high
        graph = FloatGraph(editor)
        for site, shift in self.shifts.items():
            _add_to_bias(graph, graph.producers[site], shift)
        return changed


PLAIN = Mending()


def _add_to_bias(graph: FloatGraph, step: Step, shift: np.ndarray) -> None:
    held = step.inputs[_BIAS] if len(step.inputs) > _BIAS else -1
    value = (
        graph.constant(Site(step.graph, held)).reshape(-1) if held >= 0 else np.zeros(len(shift), np.float32)
    )
    replace_operand(graph, step, _BIAS, value + shift)
