"""Reductions over axes. x is of any shape; axis lists the axes, none of them none."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .axis import axes_of
from .dtypes import INDICES, NUMBERS, REAL
from .half_precision import in_float32
from .registry import kernel

_Reduced = Callable[..., np.ndarray]


def _reduction(reduce: Callable[[np.ndarray, tuple[int, ...], bool], np.ndarray]) -> _Reduced:
    def reduced(x: np.ndarray, axis: np.ndarray, *, keep_dims: bool) -> np.ndarray:
        axes = axes_of(axis, x.ndim)
        inner = in_float32(lambda held: reduce(held, axes, keep_dims))
        return inner(x)

    reduced.__doc__ = reduce.__doc__
    return reduced


def _sum(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
    """The sum; integers wrap around."""
    return np.asarray(np.sum(x, axis=axes, dtype=x.dtype, keepdims=keep))


def _prod(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
    """The product; integers wrap around."""
    return np.asarray(np.prod(x, axis=axes, dtype=x.dtype, keepdims=keep))


def _mean(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
    """The mean: of integers rounded towards zero, of no elements NaN (integers and complex numbers: 0)."""
    # Integers add up in 64 bits, so that a mean of bytes is one.
    wide = x.astype(f"{x.dtype.kind}8") if x.dtype.kind in "iu" else x
    total = _sum(wide, axes, keep)
    count = int(np.prod([x.shape[axis] for axis in axes], dtype=np.int64))
    if count == 0 and x.dtype.kind in "iuc":
        return total.astype(x.dtype)
    if x.dtype.kind not in "iu":
        return np.asarray(total / x.dtype.type(count))
    quotient = np.abs(total.astype(object)) // count
    return np.asarray(np.where(total < 0, -quotient, quotient)).astype(x.dtype)


def _least(dtype: np.dtype, sign: int) -> int | float:
    if dtype.kind == "f":
        return sign * np.inf
    limits = np.iinfo(dtype)
    return limits.min if sign < 0 else limits.max


def _max(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
    """The largest; of no elements the type's least, -inf for floats."""
    return np.asarray(np.max(x, axis=axes, keepdims=keep, initial=_least(x.dtype, -1)))


def _min(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
    """The smallest; of no elements the type's greatest, inf for floats."""
    return np.asarray(np.min(x, axis=axes, keepdims=keep, initial=_least(x.dtype, 1)))


def _euclidean_norm(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
    """The square root of the sum of x conj(x)."""
    total = _sum(np.asarray(x * np.conj(x)), axes, keep)
    return np.sqrt(total) if x.dtype.kind in "fc" else np.sqrt(total.astype(np.float64)).astype(x.dtype)


def all_(x: np.ndarray, axis: np.ndarray, *, keep_dims: bool) -> np.ndarray:
    """Whether all are True."""
    return np.asarray(np.all(x, axis=axes_of(axis, x.ndim), keepdims=keep_dims))


def any_(x: np.ndarray, axis: np.ndarray, *, keep_dims: bool) -> np.ndarray:
    """Whether one is True."""
    return np.asarray(np.any(x, axis=axes_of(axis, x.ndim), keepdims=keep_dims))


REGISTRATIONS = (
    kernel("Sum", _reduction(_sum), T=NUMBERS, Tidx=INDICES),
    kernel("Prod", _reduction(_prod), T=NUMBERS, Tidx=INDICES),
    kernel("Mean", _reduction(_mean), T=NUMBERS, Tidx=INDICES),
    kernel("Max", _reduction(_max), T=REAL, Tidx=INDICES),
    kernel("Min", _reduction(_min), T=REAL, Tidx=INDICES),
    kernel("EuclideanNorm", _reduction(_euclidean_norm), T=NUMBERS, Tidx=INDICES),
    kernel("All", all_, Tidx=INDICES),
    kernel("Any", any_, Tidx=INDICES),
)
