"""Scales of weights by what they cost: the largest magnitude, the least squared error, OCTAV."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .parameters import magnitude_scales
from .scheme import Integers

# float32 weights [rows, n] and their integers to float32 scales [rows].
ScaleChoice = Callable[[np.ndarray, Integers], np.ndarray]

# Parts of the largest magnitude at which a search clips, and steps that improve on the best of them.
_CLIPS = np.linspace(1.0, 0.25, 26)
_REFINEMENTS = 4
_OCTAV_STEPS = 20
# What the squared sum of a row's errors counts, beside their squares: less than the mean of inputs squared is
# to their variance, as rounding can make good for most of it.
_SUM_WEIGHT = 0.1
_CHUNK_ELEMENTS = 1 << 20


def largest(rows: np.ndarray, integers: Integers) -> np.ndarray:
    """Scales that clip nothing."""
    return magnitude_scales(_magnitudes(rows), integers)


def least_error(rows: np.ndarray, integers: Integers) -> np.ndarray:
    """Scales of the least squared error that a search finds, never more than that of the largest."""
    return _in_chunks(rows, lambda part: _searched(part, integers, 0.0))


def least_output_error(rows: np.ndarray, integers: Integers) -> np.ndarray:
    """Scales of the least error of outputs whose inputs have a mean, as those behind a RELU do."""
    return _in_chunks(rows, lambda part: _searched(part, integers, _SUM_WEIGHT))


def octav(rows: np.ndarray, integers: Integers) -> np.ndarray:
    """Scales that balance what clipping and what rounding costs, for noise that is uniform.

    Source: Sakr et al., Optimal Clipping and Magnitude-aware Differentiation (2022), equation 6.
    """
    return _in_chunks(rows, lambda part: _balanced(part, integers))


def _magnitudes(rows: np.ndarray) -> np.ndarray:
    return np.maximum(rows.max(axis=1, initial=0.0), -rows.min(axis=1, initial=0.0))


def _in_chunks(rows: np.ndarray, choose: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    return np.concatenate([choose(part) for part in chunks(rows)] or [np.empty(0, np.float32)])


def chunks(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Whole rows, so many that no copy of them takes much memory."""
    step = max(1, _CHUNK_ELEMENTS // max(1, rows.shape[1]))
    return (rows[first : first + step] for first in range(0, len(rows), step))


def _searched(rows: np.ndarray, integers: Integers, sum_weight: float) -> np.ndarray:
    def error(scales: np.ndarray) -> np.ndarray:
        return _squared_error(rows, scales, integers, sum_weight)

    widest = magnitude_scales(_magnitudes(rows), integers)
    best, least = widest, error(widest)

    def improved(scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = error(scales)
        return np.where(found < least, scales, best), np.minimum(found, least)

    best, least = improved(_balanced(rows, integers))
    for part in _CLIPS[1:]:
        best, least = improved((widest * part).astype(np.float32))
    for _ in range(_REFINEMENTS):
        best, least = improved(_fitted(rows, best, integers))
    return best


def _fitted(rows: np.ndarray, scales: np.ndarray, integers: Integers) -> np.ndarray:
    """The scales of least squared error for the integers that the scales give."""
    q = _rounded(rows, scales, integers)
    over, under = np.einsum("rn,rn->r", rows, q), np.einsum("rn,rn->r", q, q)
    return np.where((under > 0) & (over > 0), over / np.maximum(under, 1), scales).astype(np.float32)


def _rounded(rows: np.ndarray, scales: np.ndarray, integers: Integers) -> np.ndarray:
    q = rows / scales[:, None]
    np.rint(q, out=q)
    return np.clip(q, integers.low, integers.high, out=q)


def _squared_error(rows: np.ndarray, scales: np.ndarray, integers: Integers, sum_weight: float) -> np.ndarray:
    q = _rounded(rows, scales, integers)
    q *= scales[:, None]
    q -= rows
    squares = np.einsum("rn,rn->r", q, q, dtype=np.float64)
    return squares + sum_weight * q.sum(axis=1, dtype=np.float64) ** 2 if sum_weight else squares


def _balanced(rows: np.ndarray, integers: Integers) -> np.ndarray:
    magnitudes = np.abs(rows)
    noise = 4.0**-integers.bits / 3
    clip = magnitudes.mean(axis=1, dtype=np.float64)
    for _ in range(_OCTAV_STEPS):
        outside = magnitudes > clip[:, None]
        count = np.count_nonzero(outside, axis=1)
        total = np.sum(magnitudes, axis=1, where=outside, dtype=np.float64)
        clip = total / np.maximum(noise * (rows.shape[1] - count) + count, 1e-300)
    return magnitude_scales(np.minimum(clip, _magnitudes(rows)), integers)
