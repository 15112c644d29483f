"""Cumulative sums, products and logarithms of sums of exponentials along an axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .axis import axis_of, scalar
from .dtypes import FLOATS, INDICES, NUMBERS
from .half_precision import in_float32
from .registry import kernel


def _scan(
    x: np.ndarray,
    axis: np.ndarray,
    start: object,
    accumulate: Callable[[np.ndarray, int], np.ndarray],
    exclusive: bool,
    reverse: bool,
) -> np.ndarray:
    along = axis_of(scalar(axis, "axis"), x.ndim)
    held = np.flip(x, along) if reverse else x
    if exclusive:
        first = np.full_like(held[(slice(None),) * along + (slice(0, 1),)], start)
        rest = held[(slice(None),) * along + (slice(None, -1),)]
        held = np.concatenate([first, rest], along)
    result = in_float32(lambda part: accumulate(part, along))(held)
    return np.flip(result, along) if reverse else result


def cumsum(x: np.ndarray, axis: np.ndarray, *, exclusive: bool, reverse: bool) -> np.ndarray:
    """Sums of the elements up to each, itself included unless exclusive; from the end with reverse."""
    return _scan(x, axis, 0, lambda part, along: np.cumsum(part, along, part.dtype), exclusive, reverse)


def cumprod(x: np.ndarray, axis: np.ndarray, *, exclusive: bool, reverse: bool) -> np.ndarray:
    """Products of the elements up to each, itself included unless exclusive; from the end with reverse."""
    return _scan(x, axis, 1, lambda part, along: np.cumprod(part, along, part.dtype), exclusive, reverse)


def cumulative_logsumexp(x: np.ndarray, axis: np.ndarray, *, exclusive: bool, reverse: bool) -> np.ndarray:
    """log of the sums of exp of the elements up to each; an exclusive one starts with -inf."""
    return _scan(
        x, axis, -np.inf, lambda part, along: np.logaddexp.accumulate(part, along), exclusive, reverse
    )


REGISTRATIONS = (
    kernel("Cumsum", cumsum, T=NUMBERS, Tidx=INDICES),
    kernel("Cumprod", cumprod, T=NUMBERS, Tidx=INDICES),
    kernel("CumulativeLogsumexp", cumulative_logsumexp, T=FLOATS, Tidx=INDICES),
)
