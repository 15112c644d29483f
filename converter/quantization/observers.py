"""Observers: what is kept of the values of a tensor, and the range that is read from it.

All but the moving average give the same for the same values in any order, also when several have seen parts
of them and are merged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from ...lite.errors import ModelError
from .histogram import Histogram, loaded_ends
from .histogram_ranges import entropy_range, least_error_range, percentile_range

Range = tuple[float, float]


class Observer(Protocol):
    """Sees values of one tensor (float32, never empty, all finite) and gives a range."""

    def update(self, values: np.ndarray, low: float, high: float) -> None:
        """low and high are the lowest and the highest of the values."""

    def merge(self, other: Any) -> None:
        """Take in what another one of the same kind has seen; ModelError where it cannot be."""

    def range(self) -> Range:
        """Lowest and highest value that the integers are to stand for."""

    def state(self) -> dict[str, Any]:
        """What JSON can hold, for load."""

    def load(self, state: Mapping[str, Any]) -> None: ...


class MinMax:
    """The lowest and the highest value."""

    def __init__(self) -> None:
        self.low, self.high = np.inf, -np.inf

    def update(self, values: np.ndarray, low: float, high: float) -> None:
        self.extend(low, high)

    def extend(self, low: float, high: float) -> None:
        """The ends of other values count, too."""
        self.low, self.high = min(self.low, low), max(self.high, high)

    def merge(self, other: MinMax) -> None:
        self.low, self.high = min(self.low, other.low), max(self.high, other.high)

    def range(self) -> Range:
        return self.low, self.high

    def state(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}

    def load(self, state: Mapping[str, Any]) -> None:
        self.low, self.high = loaded_ends(state)


class MovingAverage(MinMax):
    """Averages of each update's lowest and highest value, of which the newest weighs 1 - smoothing."""

    smoothing = 0.95

    def update(self, values: np.ndarray, low: float, high: float) -> None:
        if self.low > self.high:
            self.low, self.high = low, high
        else:
            self.low += (1 - self.smoothing) * (low - self.low)
            self.high += (1 - self.smoothing) * (high - self.high)

    def merge(self, other: MinMax) -> None:
        raise ModelError(
            "moving average: parts cannot be merged, since it depends on their order; use minmax"
        )


class _OfHistogram:
    """A range that is read from a histogram."""

    def __init__(self, find: Callable[[Histogram], Range]) -> None:
        self._find = find
        self.histogram = Histogram()

    def update(self, values: np.ndarray, low: float, high: float) -> None:
        self.histogram.update(values, low, high)

    def merge(self, other: _OfHistogram) -> None:
        self.histogram.merge(other.histogram)

    def range(self) -> Range:
        return self._find(self.histogram)

    def state(self) -> dict[str, Any]:
        return self.histogram.state()

    def load(self, state: Mapping[str, Any]) -> None:
        self.histogram.load(state)


_KINDS: dict[str, Callable[[], Observer]] = {
    "minmax": MinMax,
    "moving-average": MovingAverage,
    "mse": lambda: _OfHistogram(least_error_range),
    "entropy": lambda: _OfHistogram(entropy_range),
}
_PERCENTILE = "percentile:"
# For errors and the command's help.
KINDS = (*_KINDS, "percentile:P")


def observer(kind: str) -> Observer:
    """A new observer: minmax, moving-average, mse, entropy, or percentile:P with 50 < P <= 100.

    percentile:99.99 leaves out the 0.01 % of all values that are lowest, and as many of the highest.
    """
    made = _KINDS.get(kind)
    if made is not None:
        return made()
    share = _number(kind.removeprefix(_PERCENTILE)) if kind.startswith(_PERCENTILE) else None
    if share is None or not 50 < share <= 100:
        raise ModelError(f"observer: must be one of {', '.join(KINDS)} with 50 < P <= 100, got {kind!r}")
    return _OfHistogram(lambda histogram: percentile_range(histogram, share))


def depends_on_order(kind: str) -> bool:
    """Whether parts of the values, observed apart, cannot be merged."""
    return kind == "moving-average"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
