"""LRN and its gradient."""

from __future__ import annotations

import numpy as np

from ...schema import graph_def
from .registry import kernel
from .status import InvalidArgumentError

_TYPES = frozenset((graph_def.DT_FLOAT, graph_def.DT_HALF))


def _neighbours(x: np.ndarray, radius: int) -> np.ndarray:
    """The sum of each element of the last axis with those at most radius away."""
    size = x.shape[-1]
    sums = np.concatenate([np.zeros((*x.shape[:-1], 1), np.float64), np.cumsum(x, -1, np.float64)], axis=-1)
    places = np.arange(size)
    high, low = np.minimum(places + radius + 1, size), np.maximum(places - radius, 0)
    return (sums[..., high] - sums[..., low]).astype(np.float32)


def _norm(x: np.ndarray, radius: int, bias: float, alpha: float) -> np.ndarray:
    return np.float32(bias) + np.float32(alpha) * _neighbours(np.square(x), radius)


def _check(op: str, x: np.ndarray, radius: int) -> None:
    if x.ndim != 4 or radius < 0:
        message = "input must have 4 dimensions and depth_radius not be negative"
        raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)} and {radius}")


def lrn(x: np.ndarray, *, depth_radius: int, bias: float, alpha: float, beta: float) -> np.ndarray:
    """x / (bias + alpha n)^beta, n the sum of squares of up to 2 depth_radius + 1 channels around.

    Source: TensorFlow tensorflow/core/kernels/lrn_op.cc.
    """
    _check("LRN", x, depth_radius)
    wide = x.astype(np.float32)
    return (wide * _norm(wide, depth_radius, bias, alpha) ** np.float32(-beta)).astype(x.dtype)


def lrn_gradient(
    gradient: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> np.ndarray:
    """The gradient of LRN's input x, for its output y and the gradient of that."""
    _check("LRNGrad", x, depth_radius)
    if gradient.shape != x.shape or y.shape != x.shape:
        shapes = [list(value.shape) for value in (gradient, x, y)]
        raise InvalidArgumentError(f"LRNGrad: gradient, input and output must have one shape, got {shapes}")
    wide, dy = x.astype(np.float32), gradient.astype(np.float32)
    norm = _norm(wide, depth_radius, bias, alpha)
    spread = _neighbours(dy * y.astype(np.float32) / norm, depth_radius)
    dx = dy * norm ** np.float32(-beta) - np.float32(2 * alpha * beta) * wide * spread
    return dx.astype(x.dtype)


REGISTRATIONS = (
    kernel("LRN", lrn, T=_TYPES),
    kernel("LRNGrad", lrn_gradient, T=_TYPES),
)
