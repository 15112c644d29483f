"""KeptSamples: copies of a few samples, spread evenly over all that were seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

# What improvements are measured on; the time they take grows with it.
MOST_SAMPLES = 128
MOST_BYTES = 8 << 20


class KeptSamples:
    """At most so many samples and bytes: every one at first, then every second, every fourth ..."""

    def __init__(self, most: int = MOST_SAMPLES, most_bytes: int = MOST_BYTES) -> None:
        self._most, self._most_bytes = most, most_bytes
        self._kept: list[Any] = []
        self._sizes: list[int] = []
        self._stride, self._seen = 1, 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, sample: Any) -> None:
        """See a sample: arrays in order or by name, perhaps behind a signature's key."""
        self._seen += 1
        if (self._seen - 1) % self._stride:
            return
        self._kept.append(_copy(sample))
        self._sizes.append(_bytes(self._kept[-1]))
        while len(self._kept) > self._most or (len(self._kept) > 1 and sum(self._sizes) > self._most_bytes):
            self._kept, self._sizes, self._stride = self._kept[::2], self._sizes[::2], self._stride * 2


def _copy(sample: Any) -> Any:
    if isinstance(sample, tuple) and len(sample) == 2 and isinstance(sample[0], str):
        return sample[0], _copy(sample[1])
    if isinstance(sample, Mapping):
        return {name: np.array(value) for name, value in sample.items()}
    if isinstance(sample, np.ndarray):
        return sample.copy()
    return [np.array(value) for value in sample]


def _bytes(sample: Any) -> int:
    if isinstance(sample, tuple):
        return _bytes(sample[1])
    if isinstance(sample, np.ndarray):
        return sample.nbytes
    return sum(value.nbytes for value in (sample.values() if isinstance(sample, Mapping) else sample))
