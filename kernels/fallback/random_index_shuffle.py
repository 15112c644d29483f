"""Permutations of the integers up to a number, computed an index at a time."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, log2

import numpy as np

from .registry import kernel
from .status import InvalidArgumentError

_FEWEST_BITS = 16
_MOST_BITS = 64
# The constant sequence of Simon's key schedule.
_SEQUENCE = 0x7369F885192C0EF5


def _turned(word: int, left: int, bits: int) -> int:
    """Rotated to the left."""
    left %= bits
    return (word << left | word >> (bits - left)) & ((1 << bits) - 1)


def _round_keys(key: tuple[int, ...], rounds: int, bits: int) -> list[int]:
    mask = (1 << bits) - 1
    keys = [part & mask for part in key]
    for i in range(3, rounds):
        turned = _turned(keys[i - 1], -3, bits) ^ _turned(keys[i - 1], -4, bits)
        keys.append((0xFFFFFFFC & mask) ^ (_SEQUENCE & mask) >> (i - 3) & 1 ^ keys[i - 3] ^ turned)
    return keys


def _mixed(word: int, bits: int) -> int:
    return _turned(word, 1, bits) & _turned(word, 8, bits) ^ _turned(word, 2, bits)


def shuffled_index(index: int, key: tuple[int, ...], max_index: int, rounds: int) -> int:
    """Where the index goes among 0 to max_index: enciphered until it is one of them.

    Source: Beaulieu and others, The SIMON and SPECK families of lightweight block ciphers; block sizes and
    rounds are TensorFlow's (tensorflow/core/kernels/random_index_shuffle.cc).
    """
    if max_index == 0:
        return 0
    wide = ceil(log2(max_index))
    bits = min(max(wide + wide % 2, _FEWEST_BITS), _MOST_BITS) // 2
    keys, mask = _round_keys(key, rounds, bits), (1 << bits) - 1
    while True:
        left, right = index >> bits & mask, index & mask
        for first, second in zip(keys[::2], keys[1::2], strict=True):
            left ^= _mixed(right, bits) ^ first
            right ^= _mixed(left, bits) ^ second
        index = left << bits | right
        if index <= max_index:
            return index


def _rows(x: np.ndarray, rank: int, count: int, what: str) -> Iterator[list[int]]:
    """The integers of each index, of a tensor of that rank or of one more."""
    if x.ndim == rank + 1 and len(x) not in (1, count):
        raise InvalidArgumentError(f"{what} must have 1 or {count} rows, got {list(x.shape)}")
    for row in np.broadcast_to(x if x.ndim > rank else x[None], (count, *x.shape[x.ndim - rank :])):
        yield row.reshape(-1).tolist()


def random_index_shuffle(
    index: np.ndarray, seed: np.ndarray, max_index: np.ndarray, *, rounds: int = 4
) -> np.ndarray:
    """index (a scalar or [n]) under the permutations of seeds [3] or [n, 3] and of max_index, likewise."""
    if index.ndim > 1 or seed.ndim not in (1, 2) or seed.shape[-1] != 3 or max_index.ndim > 1:
        got = f"{list(index.shape)}, {list(seed.shape)} and {list(max_index.shape)}"
        raise InvalidArgumentError(
            f"must be index and max_index of rank 0 or 1 and seed [3] or [n, 3], got {got}"
        )
    if rounds < 4 or rounds % 2:
        raise InvalidArgumentError(f"rounds must be even and 4 or more, got {rounds}")
    ranks = index.ndim, seed.ndim - 1, max_index.ndim
    count = max((len(x) for x, rank in zip((index, seed, max_index), ranks, strict=True) if rank), default=1)
    found = np.empty(count, index.dtype)
    parts = (
        _rows(index, 0, count, "index"),
        _rows(seed, 1, count, "seed"),
        _rows(max_index, 0, count, "max_index"),
    )
    for n, ([at], key, [most]) in enumerate(zip(*parts, strict=True)):
        if not 0 <= at <= most:
            raise InvalidArgumentError(f"index must be in [0, max_index], got {at} and {most}")
        found[n] = shuffled_index(at, tuple(part & 0xFFFFFFFF for part in key), most, rounds)
    return found if any(ranks) else found[0]


REGISTRATIONS = (kernel("RandomIndexShuffle", random_index_shuffle),)
