"""ThreeFry 2x32-20, the counter-based random generator that StableHLO offers beside Philox."""

from __future__ import annotations

import numpy as np

_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_GROUPS = 5  # of four rounds
_PARITY = 0x1BD11BDA


def threefry_2x32(key: int, counters: np.ndarray) -> np.ndarray:
    """A block for each counter (uint64): uint32 [counters, 2]. key has 64 bits.

    Source: Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3.
    """
    low, high = key & 0xFFFFFFFF, key >> 32
    keys = [np.uint32(low), np.uint32(high), np.uint32(_PARITY ^ low ^ high)]
    first = (counters & np.uint64(0xFFFFFFFF)).astype(np.uint32) + keys[0]
    second = (counters >> np.uint64(32)).astype(np.uint32) + keys[1]
    for group in range(_GROUPS):
        for rotation in _ROTATIONS[group % 2]:
            first = first + second
            second = (second << np.uint32(rotation) | second >> np.uint32(32 - rotation)) ^ first
        first = first + keys[(group + 1) % 3]
        second = second + keys[(group + 2) % 3] + np.uint32(group + 1)
    return np.stack([first, second], axis=1)
