"""Cumulative sums, products and logarithms of sums of exponentials along an axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .axis import axis_of, scalar
from .binary import larger, smaller
from .dtypes import FLOATS, INDICES, NUMBERS
from .registry import kernel


def _scan(
    x: np.ndarray,
    axis: np.ndarray,
    start: object,
    accumulate: Callable[[np.ndarray, int], np.ndarray],
    exclusive: bool,
    reverse: bool,
) -> np.ndarray:
    """The results of accumulate, forwards or backwards; 16-bit floats are rounded at every step."""
    along = axis_of(scalar(axis, "axis"), x.ndim)
    held = np.flip(x, along) if reverse else x
    if exclusive:
        first = np.full_like(held[(slice(None),) * along + (slice(0, 1),)], start)
        rest = held[(slice(None),) * along + (slice(None, -1),)]
        held = np.concatenate([first, rest], along)
    result = accumulate(held, along)
    return np.flip(result, along) if reverse else result


def cumsum(x: np.ndarray, axis: np.ndarray, *, exclusive: bool, reverse: bool) -> np.ndarray:
    """Sums of the elements up to each, itself included unless exclusive; from the end with reverse."""
    return _scan(x, axis, 0, lambda part, along: np.cumsum(part, along, part.dtype), exclusive, reverse)


def cumprod(x: np.ndarray, axis: np.ndarray, *, exclusive: bool, reverse: bool) -> np.ndarray:
    """Products of the elements up to each, itself included unless exclusive; from the end with reverse."""
    return _scan(x, axis, 1, lambda part, along: np.cumprod(part, along, part.dtype), exclusive, reverse)


def cumulative_logsumexp(x: np.ndarray, axis: np.ndarray, *, exclusive: bool, reverse: bool) -> np.ndarray:
    """log of the sums of exp of the elements up to each; an exclusive one starts with -inf."""
    return _scan(x, axis, -np.inf, _log_sums, exclusive, reverse)


def _log_sums(x: np.ndarray, axis: int) -> np.ndarray:
    """Not by np.logaddexp, for which infinities cancel and what is no number spreads."""
    made, total = np.empty_like(x), np.asarray(-np.inf, x.dtype)
    elements, results = np.moveaxis(x, axis, 0), np.moveaxis(made, axis, 0)
    for place in range(len(elements)):
        results[place] = total = _log_sum(total, elements[place])
    return made


def _log_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """log(exp(a) + exp(b)) by TensorFlow's comparisons: a b that is no number counts as a once more.

    Source: TensorFlow tensorflow/core/kernels/scan_ops.h, LogSumExp.
    """
    most = larger(a, b)
    total = np.log1p(np.exp(smaller(a, b) - most)) + most
    return np.where(most == -np.inf, most, total)


REGISTRATIONS = (
    kernel("Cumsum", cumsum, T=NUMBERS, Tidx=INDICES),
    kernel("Cumprod", cumprod, T=NUMBERS, Tidx=INDICES),
    kernel("CumulativeLogsumexp", cumulative_logsumexp, T=FLOATS, Tidx=INDICES),
)
