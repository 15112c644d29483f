"""Numbers drawn one after another from a generator's words.

Source: TensorFlow tensorflow/core/lib/random/simple_philox.cc and exact_uniform_int.h.
"""

from __future__ import annotations

from collections.abc import Iterator

_BITS = 32


def below(words: Iterator[int], limit: int, taken: int = 1) -> int:
    """A number in [0, limit), each as likely as any other, made of so many words, the low one first.

    Words that would favour small numbers are drawn again.
    """
    least = 0 if not limit & (limit - 1) else ((1 << _BITS * taken) - 1) % limit + 1
    while True:
        value = sum(next(words) << _BITS * i for i in range(taken))
        if value >= least:
            return value % limit


def single(words: Iterator[int]) -> float:
    """In [0, 1), of 23 bits: one word."""
    return (next(words) & 0x7FFFFF) / (1 << 23)


def double(words: Iterator[int]) -> float:
    """In [0, 1), of 52 bits: two words, the high one first."""
    high, low = next(words), next(words)
    return ((high & 0xFFFFF) << _BITS | low) / (1 << 52)
