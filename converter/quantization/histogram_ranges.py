"""Ranges that are read from a histogram: by percentile, least squared error, or least divergence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from .float_graph import Site
from .histogram import Histogram
from .reader_functions import Function

Range = tuple[float, float]

# Steps of an 8-bit range; wider integers gain less by leaving values out.
_LEVELS = 256
_CANDIDATES = 100
_KEPT_BINS = 128
# A range that is so much of what it was gains less than where its steps happen to lie.
_NEARLY_ALL = 0.95
_DIVERGENCE_STEPS = 64


def percentile_range(histogram: Histogram, percentile: float) -> Range:
    """Without the (100 - percentile) % of all values that are lowest, and as many of the highest.

    Exact to the width of a bin; never wider than the values are.
    """
    if percentile == 100:
        return histogram.low, histogram.high
    counts, edges = histogram.counts, histogram.edges()
    total = np.cumsum(counts)
    out = total[-1] * (1 - percentile / 100)
    first = int(np.searchsorted(total, out, side="right"))
    last = int(np.searchsorted(total, total[-1] - out, side="left"))
    return max(float(edges[first]), histogram.low), min(float(edges[last + 1]), histogram.high)


def least_error_range(histogram: Histogram, beyond: float = 1.0, function: Function | None = None) -> Range:
    """The range of the least mean squared error in 8 bits, each end of 100 candidates by turns.

    Within the range the error is that of rounding (scale**2 / 12), outside of it the distance to the end,
    whose square counts beyond times. With a function it is the error of what that makes of the values.
    """
    low, high = min(histogram.low, 0.0), max(histogram.high, 0.0)
    shares = np.arange(1, _CANDIDATES + 1) / _CANDIDATES
    error = _Error(histogram, beyond, function)
    best = low, high
    for _ in range(2):
        if low:
            best = float(low * shares[error.of(low * shares, best[1]).argmin()]), best[1]
        if high:
            best = best[0], float(high * shares[error.of(best[0], high * shares).argmin()])
    return best


def kept_ends(
    histograms: Mapping[Site, Histogram], beyond: float, functions: Mapping[Site, Function]
) -> dict[Site, Range]:
    """What least_error_range leaves of both ends, of the tensors where that is less than nearly all."""
    found = {}
    for site, histogram in histograms.items():
        if len(histogram.counts):
            low, high = least_error_range(histogram, beyond, functions.get(site))
            kept = low / histogram.low if low else 1.0, high / histogram.high if high else 1.0
            if min(kept) < _NEARLY_ALL:
                found[site] = kept
    return found


class _Error:
    """The squared error of ranges, by sums over the bins up to an end."""

    def __init__(self, histogram: Histogram, beyond: float, function: Function | None) -> None:
        self._beyond, self._centers = beyond, histogram.centers()
        self._function = function or np.asarray
        counts, values = histogram.counts.astype(np.float64), self._function(self._centers)
        slopes = np.ones(len(values))
        if function is not None:
            half = histogram.width / 2
            slopes = (function(self._centers + half) - function(self._centers - half)) / (2 * half)
        terms = (counts, counts * values, counts * values**2, counts * slopes**2)
        *self._sums, self._weights = (np.concatenate([[0.0], np.cumsum(term)]) for term in terms)

    def of(self, low: np.ndarray | float, high: np.ndarray | float) -> np.ndarray:
        """Of each range; one of the ends may be the same for all."""
        first = np.searchsorted(self._centers, np.asarray(low), "left")
        last = np.searchsorted(self._centers, np.asarray(high), "right")
        none, total = np.zeros_like(first), np.full_like(last, len(self._centers))
        outside = self._distance(none, first, low) + self._distance(last, total, high)
        steps = (np.asarray(high) - low) / (_LEVELS - 1)
        return np.asarray(
            self._beyond * outside + (self._weights[last] - self._weights[first]) * steps**2 / 12
        )

    def _distance(self, first: np.ndarray, last: np.ndarray, end: np.ndarray | float) -> np.ndarray:
        """The sum of squared distances of the values in some bins from an end."""
        count, sum_, squares = (each[last] - each[first] for each in self._sums)
        end = self._function(np.asarray(end))
        return np.asarray(squares - 2 * end * sum_ + end * end * count)


def entropy_range(histogram: Histogram) -> Range:
    """The range up to the magnitude at which 8 bits lose the least information (Kullback and Leibler).

    Source: S. Migacz, 8-bit Inference with TensorRT, GTC 2017.
    """
    largest = max(-histogram.low, histogram.high, 0.0)
    if largest == 0:
        return histogram.low, histogram.high
    magnitudes, _ = np.histogram(
        np.abs(histogram.centers()), MOST_MAGNITUDES, (0, largest), weights=histogram.counts
    )
    candidates = np.unique(np.linspace(_KEPT_BINS, MOST_MAGNITUDES, _DIVERGENCE_STEPS).astype(int))
    best = min(candidates, key=lambda kept: _divergence(magnitudes, int(kept)))
    threshold = largest * int(best) / MOST_MAGNITUDES
    return max(histogram.low, -threshold), min(histogram.high, threshold)


MOST_MAGNITUDES = 2048


def _divergence(counts: np.ndarray, kept: int) -> float:
    """Of the distribution cut at so many bins from what _KEPT_BINS levels make of it."""
    reference = counts[:kept].astype(np.float64)
    inside = reference.copy()
    reference[-1] += counts[kept:].sum()
    levels = np.arange(kept) * _KEPT_BINS // kept
    sums = np.bincount(levels, inside, _KEPT_BINS)
    filled = np.bincount(levels, inside > 0, _KEPT_BINS)
    spread = np.where(inside > 0, (sums / np.maximum(filled, 1))[levels], 0)
    p, q = reference / max(reference.sum(), 1), spread / max(spread.sum(), 1)
    here = p > 0
    # What the levels do not know of counts as much rarer than anything that was seen.
    return float((p[here] * np.log(p[here] / np.maximum(q[here], 1e-12))).sum())
