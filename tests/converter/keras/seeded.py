"""Weights and inputs by seed: the same where Keras recorded its outputs and where a file is made anew."""

from __future__ import annotations

import zlib

import numpy as np

_WORDS = ("the", "cat", "sat", "on", "a", "Mat!", "dog", "Zebra,", "12", "")
# Statistics must be positive.
_POSITIVE = ("normalization", "variance", "moving", "layer/vars/3")


def weight(path: str, shape: tuple[int, ...]) -> np.ndarray:
    """A weight by its path in the file."""
    rng = np.random.default_rng(zlib.crc32(path.encode()))
    values = rng.uniform(-0.5, 0.5, shape).astype(np.float32)
    return np.abs(values) + np.float32(0.2) if any(word in path for word in _POSITIVE) else values


def model_input(place: int, shape: list[int], dtype: str, high: int) -> np.ndarray:
    """An input: floats within 2 of 0, integers below high, words."""
    rng = np.random.default_rng(100 + place)
    if dtype == "string":
        texts = [" ".join(rng.choice(_WORDS, 3 if high > 1 else 1)) for _ in range(int(np.prod(shape)))]
        return np.array([text.encode() for text in texts], object).reshape(shape)
    if dtype == "bool":
        return rng.random(shape) < 0.7
    if dtype.startswith(("int", "uint")):
        return rng.integers(0, high, shape).astype(dtype)
    return rng.uniform(-2, 2, shape).astype(dtype)
