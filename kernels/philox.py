"""Philox 4x32-10, the counter-based random generator of the random operators."""

from __future__ import annotations

import numpy as np

_ROUNDS = 10
_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS = (0x9E3779B9, 0xBB67AE85)
_LOW_WORD = np.uint64(0xFFFFFFFF)
_WORD = np.uint64(32)
_MASK = (1 << 64) - 1


def philox_4x32(key: int, lows: np.ndarray, highs: np.ndarray) -> np.ndarray:
    """A block for each counter, of 128 bits as two uint64: uint32 [counters, 4]. key has 64 bits.

    Source: Salmon, Moraes, Dror and Shaw, Parallel Random Numbers: As Easy as 1, 2, 3.
    """
    words = [lows & _LOW_WORD, lows >> _WORD, highs & _LOW_WORD, highs >> _WORD]
    k0, k1 = key & 0xFFFFFFFF, key >> 32
    for _ in range(_ROUNDS):
        first, second = words[0] * _MULTIPLIERS[0], words[2] * _MULTIPLIERS[1]
        words = [
            (second >> _WORD) ^ words[1] ^ np.uint64(k0),
            second & _LOW_WORD,
            (first >> _WORD) ^ words[3] ^ np.uint64(k1),
            first & _LOW_WORD,
        ]
        k0, k1 = (k0 + _KEY_STEPS[0]) & 0xFFFFFFFF, (k1 + _KEY_STEPS[1]) & 0xFFFFFFFF
    return np.stack(words, axis=1).astype(np.uint32)


class PhiloxStream:
    """A generator with TFLite's two seeds: seed is the key, seed2 the counter's upper half."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._key = seed & _MASK
        self._low = 0
        self._high = seed2 & _MASK

    def blocks(self, count: int) -> np.ndarray:
        """The next blocks: uint32 [count, 4]. The generator then goes on behind them."""
        lows = np.uint64(self._low) + np.arange(count, dtype=np.uint64)
        highs = np.full(count, self._high, np.uint64)
        highs += lows < np.uint64(self._low)
        self.skip(count)
        return philox_4x32(self._key, lows, highs)

    def skip(self, count: int) -> None:
        counter = (self._high << 64 | self._low) + count
        self._low, self._high = counter & _MASK, counter >> 64 & _MASK


def uniform_f64(blocks: np.ndarray) -> np.ndarray:
    """float64 in [0, 1), two of each block: from 20 bits of one word and all of the next."""
    words = blocks.reshape(-1, 2).astype(np.uint64)
    mantissa = ((words[:, 0] & np.uint64(0xFFFFF)) << _WORD) | words[:, 1]
    return (mantissa | np.uint64(1023 << 52)).view(np.float64) - 1.0
