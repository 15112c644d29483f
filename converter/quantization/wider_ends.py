"""wider_ends: ranges that grow so that what a last function gives is nearer, rounding to steps included.

Given    x -> SOFTMAX -> an output, and x is much the same for all samples: its largest values lie half-way
         between two steps, so that chance rounds them up or down, and by as much for every sample
Result   a range of x that is up to a quarter wider, on whose steps these values lie
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from .float_graph import Site
from .measured_ends import End, Values
from .parameters import range_parameters
from .propagate import Range
from .reader_functions import Function

_WIDTHS = 1 + np.arange(33) / 128
# How often each sample is tried, each time with other errors.
_TRIALS = 4
# More samples, and results of more values, tell nothing else: where values differ, all widths are alike.
_MOST_SAMPLES, _MOST_VALUES = 32, 1 << 14
# Less is gained by chance.
_LEAST_RATIO = 10**0.1


def wider_ends(
    ends: Sequence[End],
    real: Values,
    integer: Values,
    ranges: Mapping[Site, Range],
    whole: Collection[Site],
) -> dict[Site, Range]:
    """By how much both sides of a tensor's range grow, of the ends where that is more than chance.

    real are the float model's values at each end, integer those of an integer one; whole are tensors that
    keep their ranges.
    """
    found = {}
    for end, values, others in zip(ends, real, integer, strict=True):
        if end.function is None or end.site not in ranges.keys() - {*whole} or not _is_measured(values):
            continue
        tried = np.array([*values[:_MOST_SAMPLES]] * _TRIALS)
        given = tried + np.random.default_rng(0).normal(0, _deviation(values, others), tried.shape)
        wanted = end.function(tried)
        errors = [_error(end.function, given, wanted, ranges[end.site], float(w)) for w in _WIDTHS]
        best = int(np.argmin(errors))
        if errors[best] * _LEAST_RATIO < errors[0]:
            found[end.site] = float(_WIDTHS[best]), float(_WIDTHS[best])
    return found


def _is_measured(values: Sequence[np.ndarray]) -> bool:
    return bool(values) and len({v.shape for v in values}) == 1 and values[0].size <= _MOST_VALUES


def _deviation(values: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> float:
    """How far errors lie from their mean over the samples, which biases make good for."""
    errors = np.array([b - a for a, b in zip(values, others, strict=True)])
    return float(np.sqrt(errors.var(axis=0).mean()))


def _error(function: Function, given: np.ndarray, wanted: np.ndarray, range: Range, width: float) -> float:
    """The squared error of what a function makes of values that 8 bits of a wider range stand for; the first
    axis is that of trials."""
    parameters = range_parameters(range[0] * width, range[1] * width)
    rounded = parameters.real(parameters.quantized(given))
    return float(((function(rounded) - wanted) ** 2).reshape(len(given), -1).sum(axis=1).sum())
