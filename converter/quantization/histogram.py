"""Histogram: how often values occurred, in at most 2048 bins whose width is a power of two.

Bin b holds width * b <= value < width * (b + 1); the bins reach to zero. Since bins only ever join in pairs,
what is kept depends on the values alone: not on their order, nor on how they were dealt out to histograms
that are merged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .value_statistics import add_to_histogram

MOST_BINS = 2048
# float32's smallest step.
_LEAST_EXPONENT = -149
_MOST = float(np.finfo(np.float32).max)


class Histogram:
    """Starts empty. exponent is the power of two of the width, first the number of the first bin."""

    def __init__(self) -> None:
        self.exponent = _LEAST_EXPONENT
        self.first = 0
        self.counts = np.zeros(0, np.int64)
        self.low, self.high = np.inf, -np.inf

    @property
    def width(self) -> float:
        return float(np.ldexp(1.0, self.exponent))

    def edges(self) -> np.ndarray:
        """float64 [bins + 1]."""
        return (self.first + np.arange(len(self.counts) + 1)) * self.width

    def centers(self) -> np.ndarray:
        """float64 [bins]: a bin's middle, within the lowest and the highest value."""
        return np.clip(self.edges()[:-1] + self.width / 2, self.low, self.high)

    def update(self, values: np.ndarray, low: float, high: float) -> None:
        """Count finite float32 values, of which low is the lowest and high the highest."""
        self._extend(low, high)
        add_to_histogram(values, self.counts, self.first, self.exponent)

    def see(self, values: np.ndarray) -> None:
        """Count finite float32 values, at least one."""
        self.update(values, float(values.min()), float(values.max()))

    def merge(self, other: Histogram) -> None:
        """Take in the counts of another one."""
        if not len(other.counts):
            return
        self._extend(other.low, other.high)
        exponent = max(self.exponent, other.exponent)
        self._coarsen(exponent)
        self._reach(*_bins(self.low, self.high, exponent))
        places = (other.first + np.arange(len(other.counts))) >> (exponent - other.exponent)
        np.add.at(self.counts, places - self.first, other.counts)

    def state(self) -> dict[str, Any]:
        """What JSON can hold."""
        return {
            **{"low": self.low, "high": self.high, "exponent": self.exponent, "first": self.first},
            "counts": self.counts.tolist(),
        }

    def load(self, state: Mapping[str, Any]) -> None:
        """ValueError where the bins do not hold the values; of no values there are none."""
        self.low, self.high = loaded_ends(state)
        self.exponent, self.first = int(state["exponent"]), int(state["first"])
        self.counts = np.array(state["counts"], np.int64)
        if self.low > self.high and self.counts.shape == (0,):
            return
        if not _LEAST_EXPONENT <= self.exponent < 128 or self.counts.ndim != 1:
            raise ValueError(f"no histogram has bins of 2^{self.exponent}, or {self.counts.shape} of them")
        first, last = _bins(self.low, self.high, self.exponent)
        if not (self.first <= first and last < self.first + len(self.counts) <= self.first + MOST_BINS):
            raise ValueError(f"bins must reach from {self.low} to {self.high}, and be {MOST_BINS} at most")
        if self.counts.min() < 0 or not 0 < int(sum(self.counts.tolist())) < 2**63:
            raise ValueError(f"counts must be of values, got {self.counts.min()} to {self.counts.max()}")

    def _extend(self, low: float, high: float) -> None:
        """Make room for values between low and high."""
        self.low, self.high = min(self.low, low), max(self.high, high)
        exponent = _exponent(self.low, self.high)
        if not len(self.counts):
            self.exponent = exponent
            self.first = _bins(self.low, self.high, exponent)[0]
        self._coarsen(exponent)
        self._reach(*_bins(self.low, self.high, self.exponent))

    def _coarsen(self, exponent: int) -> None:
        if exponent <= self.exponent or not len(self.counts):
            self.exponent = max(exponent, self.exponent)
            return
        places = (self.first + np.arange(len(self.counts))) >> (exponent - self.exponent)
        counts = np.zeros(int(places[-1] - places[0]) + 1, np.int64)
        np.add.at(counts, places - places[0], self.counts)
        self.exponent, self.first, self.counts = exponent, int(places[0]), counts

    def _reach(self, first: int, last: int) -> None:
        """Have all bins from first to last."""
        if not len(self.counts):
            self.first, self.counts = first, np.zeros(last - first + 1, np.int64)
            return
        before = max(self.first - first, 0)
        after = max(last - (self.first + len(self.counts) - 1), 0)
        if not before and not after:
            return
        self.first -= before
        self.counts = np.pad(self.counts, (before, after))


def loaded_ends(state: Mapping[str, Any]) -> tuple[float, float]:
    """The lowest and the highest value; ValueError unless they are finite, or inf and -inf of none."""
    low, high = float(state["low"]), float(state["high"])
    if not -_MOST <= low <= high <= _MOST and (low, high) != (np.inf, -np.inf):
        raise ValueError(f"the lowest value must be finite and no more than the highest, got {low}, {high}")
    return low, high


def _bins(low: float, high: float, exponent: int) -> tuple[int, int]:
    """The bins of the ends of a range that is widened to hold zero, as quantized ranges are."""
    first, last = (int(np.floor(np.ldexp(end, -exponent))) for end in (min(low, 0.0), max(high, 0.0)))
    return first, last


def _exponent(low: float, high: float) -> int:
    """The least power of two of which MOST_BINS reach from low to high, and to zero."""
    extent = max(high, 0.0) - min(low, 0.0)
    exponent = _LEAST_EXPONENT
    if extent > 0:
        exponent = max(int(np.floor(np.log2(extent))) - 12, _LEAST_EXPONENT)
    while True:
        first, last = _bins(low, high, exponent)
        if last - first < MOST_BINS:
            return exponent
        exponent += 1
