"""ChannelObserver: the lowest and the highest value of each channel of tensors, seen in one pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .float_graph import Site
from .value_statistics import Extremes


class SeenTensor:
    """Sees the values of a tensor, by channels where it may: as long as their number does not change.

    apart tells that the ends of each look are wanted, instead of those of all.
    """

    def __init__(self, by_channels: bool, apart: bool) -> None:
        self._by_channels, self._apart = by_channels, apart
        self._extremes: dict[int, Extremes] = {}

    @property
    def ranges(self) -> np.ndarray | None:
        """float32 [2, channels]; None where channels are not seen, or are not always as many."""
        own = list(self._extremes.values())
        return own[0].ranges if self._by_channels and len(own) == 1 else None

    @property
    def ends(self) -> tuple[float, float] | None:
        """The lowest and the highest of all values, None without any."""
        found = [extremes.ranges for extremes in self._extremes.values()]
        low = min((float(ranges[0].min()) for ranges in found), default=np.inf)
        high = max((float(ranges[1].max()) for ranges in found), default=-np.inf)
        return (low, high) if low <= high else None

    @property
    def found_wrong(self) -> bool:
        """Whether a value was NaN or infinite."""
        return any(extremes.found_wrong for extremes in self._extremes.values())

    def of(self, shape: Sequence[int]) -> Extremes:
        """Who sees values of that shape."""
        depth = shape[-1] if self._by_channels and len(shape) and shape[-1] else 1
        if depth not in self._extremes:
            self._extremes[depth] = Extremes(depth, self._apart)
        return self._extremes[depth]


class ChannelObserver:
    """Says of which tensors channels are seen; ranges are what was seen of them, float32 [2, channels]."""

    def __init__(self, sites: Iterable[Site] = ()) -> None:
        self._sites = frozenset(sites)
        self._seen: dict[Site, SeenTensor] = {}

    def watch(self, site: Site, apart: bool = False) -> SeenTensor:
        """What is to see a tensor's values."""
        return self._seen.setdefault(site, SeenTensor(site in self._sites, apart))

    @property
    def ranges(self) -> dict[Site, np.ndarray]:
        found = ((site, seen.ranges) for site, seen in self._seen.items())
        return {site: ranges for site, ranges in found if ranges is not None}
