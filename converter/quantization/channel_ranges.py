"""ChannelObserver: the lowest and the highest value of each channel of tensors, seen in few steps."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from .float_graph import Site

# Rows are joined until they are about as long: NumPy takes a step of its own for each row.
_WIDTH = 4096


class ChannelObserver:
    """Sees the values of some tensors; ranges are those of their channels, float32 [2, channels]."""

    def __init__(self, sites: Iterable[Site] = ()) -> None:
        self._sites = frozenset(sites)
        self.ranges: dict[Site, np.ndarray] = {}

    def extremes(self, site: Site, values: np.ndarray) -> tuple[float, float]:
        """The lowest and the highest of a tensor's values, none of which may be none; NaN where one is."""
        if site not in self._sites or not values.ndim:
            return float(values.min()), float(values.max())
        seen = channel_extremes(values)
        own = self.ranges.setdefault(site, seen)
        if own is not seen and own.shape == seen.shape:
            np.minimum(own[0], seen[0], out=own[0])
            np.maximum(own[1], seen[1], out=own[1])
        return float(seen[0].min()), float(seen[1].max())


def channel_extremes(values: np.ndarray) -> np.ndarray:
    """The lowest and the highest value of each index of the last axis: [2, channels]."""
    depth = values.shape[-1]
    count, together = values.size // depth, 1
    while count % (2 * together) == 0 and 2 * together * depth <= _WIDTH:
        together *= 2
    wide = values.reshape(-1, together * depth)
    return np.stack(
        [reduce(reduce(wide, axis=0).reshape(together, depth), axis=0) for reduce in (np.min, np.max)]
    )
