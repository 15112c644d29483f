"""Equal arrays, found without reading those that are like no other."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np

# How many bytes at both ends tell most arrays apart.
_ENDS = 32


class SameContent:
    """Gives equal arrays the same number, counted from 0.

    Arrays are equal when their bytes are and what is said of them (their type and shape, say).
    """

    def __init__(self) -> None:
        self.count = 0
        # By size and ends: the first array of those, or all of them by their digests.
        self._lone: dict[object, tuple[np.ndarray, int]] = {}
        self._digests: dict[object, dict[bytes, int]] = {}

    def number(self, data: np.ndarray, said: object = None) -> int:
        """The array's number. data is not of objects; it must not change from now on."""
        flat = _bytes(data)
        key = (said, flat.size, flat[:_ENDS].tobytes(), flat[-_ENDS:].tobytes())
        if key not in self._lone:
            self._lone[key] = (flat, self.count)
            self.count += 1
            return self.count - 1
        if flat.size <= 2 * _ENDS:
            return self._lone[key][1]
        if key not in self._digests:
            first, number = self._lone[key]
            self._digests[key] = {_digest(first): number}
        number = self._digests[key].setdefault(_digest(flat), self.count)
        self.count += number == self.count
        return number


def _bytes(data: np.ndarray) -> np.ndarray:
    flat = np.ascontiguousarray(data).reshape(-1)
    return flat.view(np.uint8) if flat.size else np.empty(0, np.uint8)


def _digest(flat: np.ndarray) -> bytes:
    return blake2b(flat.data).digest()
