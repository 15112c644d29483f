"""Random numbers of TensorFlow's distributions, made of the words of a Philox generator.

Source: TensorFlow tensorflow/core/lib/random/random_distributions.h.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

import numpy as np

from ..philox import philox_4x32, uniform_f64

_MASK = (1 << 64) - 1
_EPSILON = np.float32(1e-7)
# Words that are kept for each number where it is not known how many one takes.
_RESERVED = 256


class PhiloxGenerator:
    """Blocks of four words: of a key of 64 bits, from a counter of 128 on."""

    def __init__(self, key: int, counter: int) -> None:
        self.key = key & _MASK
        self.counter = counter

    def blocks(self, count: int, first: int = 0, step: int = 1) -> np.ndarray:
        """Blocks first, first + step ... after the counter: uint32 [count, 4]."""
        offsets = np.arange(count, dtype=np.uint64) * np.uint64(step) + np.uint64(first)
        low, high = self.counter & _MASK, self.counter >> 64 & _MASK
        lows = np.uint64(low) + offsets
        highs = np.full(count, high, np.uint64) + (lows < offsets)
        return philox_4x32(self.key, lows, highs)

    def words(self) -> Iterator[int]:
        """All words, one after another."""
        at = 0
        while True:
            yield from self.blocks(64, at).reshape(-1).tolist()
            at += 64

    def skip(self, blocks: int) -> None:
        self.counter += blocks


def uniform(generator: PhiloxGenerator, count: int, dtype: np.dtype) -> np.ndarray:
    """Numbers in [0, 1): as many random bits as the type's mantissa has."""
    if dtype == np.float64:
        return uniform_f64(generator.blocks(ceil(count / 2)))[:count]
    words = generator.blocks(ceil(count / 4)).reshape(-1)[:count]
    if dtype == np.float32:
        return _unit(words)
    mantissa, one = (0x3FF, 15 << 10) if dtype == np.float16 else (0x7F, 127 << 7)
    bits = (words & np.uint32(mantissa) | np.uint32(one)).astype(np.uint16)
    return np.asarray(bits.view(dtype) - dtype.type(1))


def _unit(words: np.ndarray) -> np.ndarray:
    bits = words & np.uint32(0x7FFFFF) | np.uint32(127 << 23)
    return np.asarray(bits.view(np.float32) - np.float32(1))


def normal(generator: PhiloxGenerator, count: int, dtype: np.dtype) -> np.ndarray:
    """Standard normal numbers, two of each two uniform ones (Box and Muller)."""
    if dtype == np.float64:
        return _normal_f64(generator.blocks(ceil(count / 2))).reshape(-1)[:count]
    return _normal_f32(generator.blocks(ceil(count / 4))).reshape(-1)[:count].astype(dtype)


def _normal_f32(blocks: np.ndarray) -> np.ndarray:
    """float32 of the shape of the words; pairs of words make pairs of numbers."""
    pairs = _unit(blocks).reshape(-1, 2)
    radius = np.sqrt(np.float32(-2) * np.log(np.maximum(pairs[:, 0], _EPSILON)))
    angle = np.float32(2 * np.pi) * pairs[:, 1]
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], -1).reshape(blocks.shape)


def _normal_f64(blocks: np.ndarray) -> np.ndarray:
    """float64 [blocks, 2]."""
    pairs = uniform_f64(blocks).reshape(-1, 2)
    radius = np.sqrt(-2 * np.log(np.maximum(pairs[:, 0], 1e-7)))
    angle = 2 * np.pi * pairs[:, 1]
    return np.stack([np.sin(angle) * radius, np.cos(angle) * radius], -1)


def truncated_normal(generator: PhiloxGenerator, count: int, dtype: np.dtype) -> np.ndarray:
    """Standard normal numbers within 2 of 0: others are drawn again, from words kept for the group."""
    size = 2 if dtype == np.float64 else 4
    groups = ceil(count / size)
    per_group = size * _RESERVED // 4
    draw = _normal_f64 if dtype == np.float64 else _normal_f32
    made = np.empty((groups, size), np.float64 if dtype == np.float64 else np.float32)
    filled = np.zeros(groups, np.int64)
    open_groups = np.arange(groups)
    for block in range(per_group):
        if not len(open_groups):
            break
        drawn = _group_blocks(generator, open_groups * per_group + block, draw)
        for column in drawn.T:
            taken = (np.abs(column) < 2) & (filled[open_groups] < size)
            rows = open_groups[taken]
            made[rows, filled[rows]] = column[taken]
            filled[rows] += 1
        open_groups = open_groups[filled[open_groups] < size]
    return made.reshape(-1)[:count].astype(dtype)


def _group_blocks(generator: PhiloxGenerator, places: np.ndarray, draw: object) -> np.ndarray:
    low, high = generator.counter & _MASK, generator.counter >> 64 & _MASK
    offsets = places.astype(np.uint64)
    lows = np.uint64(low) + offsets
    highs = np.full(len(places), high, np.uint64) + (lows < offsets)
    assert callable(draw)
    return np.asarray(draw(philox_4x32(generator.key, lows, highs)))


def integers(generator: PhiloxGenerator, count: int, dtype: np.dtype) -> np.ndarray:
    """Any integers of 32 or 64 bits."""
    if dtype.itemsize == 4:
        return generator.blocks(ceil(count / 4)).reshape(-1)[:count].view(dtype)
    words = generator.blocks(ceil(count / 2)).reshape(-1, 2).astype(np.uint64)
    return (words[:, 0] | words[:, 1] << np.uint64(32))[:count].view(dtype)


def integers_between(generator: PhiloxGenerator, count: int, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Integers in [low, high), of low's type: a word modulo their number."""
    unsigned = np.dtype(f"u{low.dtype.itemsize}")
    span = high.astype(unsigned) - low.astype(unsigned)
    drawn = integers(generator, count, unsigned) % span
    return (low.astype(unsigned) + drawn).view(low.dtype)


def multinomial(generator: PhiloxGenerator, logits: np.ndarray, samples: int) -> np.ndarray:
    """Classes drawn by their logits, samples of each row: int64 [rows, samples].

    Source: TensorFlow tensorflow/core/kernels/multinomial_op.cc.
    """
    wide = logits.astype(np.float64)
    finite = np.isfinite(wide)
    largest = np.max(np.where(finite, wide, -np.inf), axis=-1, keepdims=True, initial=-np.inf)
    weights = np.where(finite, np.exp(wide - largest), 0)
    sums = np.cumsum(weights, -1)
    drawn = uniform(generator, samples * len(logits), np.dtype(np.float64)).reshape(len(logits), samples)
    rows = [np.searchsorted(row, values * row[-1], "right") for row, values in zip(sums, drawn, strict=True)]
    return np.array(rows, np.int64).reshape(len(logits), samples)


def shuffled(generator: PhiloxGenerator, count: int) -> np.ndarray:
    """An order of 0 to count - 1: each place in turn is swapped with one from it on."""
    order = list(range(count))
    for i, word in zip(range(count - 1), generator.words(), strict=False):
        j = i + word % (count - i)
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int64)
