"""Ranges that are read from a histogram: by percentile, least squared error, or least divergence."""

from __future__ import annotations

import numpy as np

from .histogram import Histogram

Range = tuple[float, float]

# Steps of an 8-bit range; wider integers gain less by leaving values out.
_LEVELS = 256
_CANDIDATES = 100
_KEPT_BINS = 128
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


def least_error_range(histogram: Histogram) -> Range:
    """The range of the least mean squared error in 8 bits, each end of 100 candidates by turns.

    Within the range the error is that of rounding (scale**2 / 12), beyond it the distance to the end.
    """
    low, high = min(histogram.low, 0.0), max(histogram.high, 0.0)
    shares = np.arange(1, _CANDIDATES + 1) / _CANDIDATES
    counts, centers = histogram.counts.astype(np.float64), histogram.centers()
    best = low, high
    for _ in range(2):
        lows = [(low * share, best[1]) for share in shares] if low else [best]
        best = min(lows, key=lambda ends: _error(counts, centers, ends))
        highs = [(best[0], high * share) for share in shares] if high else [best]
        best = min(highs, key=lambda ends: _error(counts, centers, ends))
    return best


def _error(counts: np.ndarray, centers: np.ndarray, ends: Range) -> float:
    scale = (ends[1] - ends[0]) / (_LEVELS - 1)
    clipped = np.clip(centers, *ends) - centers
    return float((counts * np.where(clipped == 0, scale * scale / 12, clipped * clipped)).sum())


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
