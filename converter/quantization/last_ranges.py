"""last_ranges: ranges of what last functions read, by what these make of it, rounding to steps included.

Given    x -> SOFTMAX -> an output, and x is much the same for all samples: its largest values lie half-way
         between two steps, so that chance rounds them up or down, and by as much for every sample; its least
         values add nearly nothing to any result
Result   a range of x that is up to a quarter wider, on whose steps the largest lie, or one that ends above
         the least, with smaller steps
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import numpy as np

from .float_graph import Site
from .measured_ends import End, Values
from .parameters import range_parameters
from .propagate import Range
from .reader_functions import Function

_WIDTHS = 1 + np.arange(33) / 128
# What may be left of the lower side.
_LOWS = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
# How often each sample is tried, each time with other errors.
_TRIALS = 4
# More samples, and results of more values, tell nothing else: where values differ, all widths are alike.
_MOST_SAMPLES, _MOST_VALUES = 32, 1 << 14
# Less is gained by chance.
_LEAST_RATIO = 10**0.1


def last_ranges(
    ends: Sequence[End],
    real: Values,
    integer: Values,
    ranges: Mapping[Site, Range],
    whole: Collection[Site],
) -> dict[Site, Range]:
    """How many times as wide both sides of a tensor's range are to be, of the ends where that is a gain.

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
        error = partial(_error, end.function, given, wanted, ranges[end.site])
        lows = [error(low, 1.0) for low in _LOWS]
        low = _LOWS[int(np.argmin(lows))]
        widths = [error(low * width, width) for width in _WIDTHS]
        width = float(_WIDTHS[int(np.argmin(widths))])
        if min(widths) * _LEAST_RATIO < lows[0]:
            found[end.site] = low * width, width
    return found


def _is_measured(values: Sequence[np.ndarray]) -> bool:
    return bool(values) and len({v.shape for v in values}) == 1 and values[0].size <= _MOST_VALUES


def _deviation(values: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> float:
    """How far errors lie from their mean over the samples, which biases make good for."""
    errors = np.array([b - a for a, b in zip(values, others, strict=True)])
    return float(np.sqrt(errors.var(axis=0).mean()))


def _error(
    function: Function, given: np.ndarray, wanted: np.ndarray, range: Range, low: float, high: float
) -> float:
    """The squared error of what a function makes of values that 8 bits of a range stand for whose sides are
    so many times as wide; the first axis is that of trials."""
    parameters = range_parameters(range[0] * low, range[1] * high)
    rounded = parameters.real(parameters.quantized(given))
    return float(((function(rounded) - wanted) ** 2).reshape(len(given), -1).sum(axis=1).sum())
