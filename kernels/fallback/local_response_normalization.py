"""LRN and its gradient."""

from __future__ import annotations

import numpy as np

from ...schema import graph_def
from .registry import kernel
from .status import InvalidArgumentError

_TYPES = frozenset((graph_def.DT_FLOAT, graph_def.DT_HALF))


def _band(size: int, radius: int) -> np.ndarray:
    """Which channels are at most radius apart: float32 [size, size]."""
    places = np.arange(size)
    return (np.abs(places - places[:, np.newaxis]) <= radius).astype(np.float32)


def _window_sums(x: np.ndarray, radius: int) -> np.ndarray:
    """The sum of each element of the last axis with those at most radius away, whatever is behind them."""
    size = x.shape[-1]
    total = x.copy()
    for step in range(1, min(radius, size - 1) + 1):
        total[..., step:] += x[..., :-step]
        total[..., :-step] += x[..., step:]
    return total


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
    # A product of matrices, as TensorFlow has it: what is no number reaches all channels.
    norm = np.float32(bias) + np.float32(alpha) * (np.square(wide) @ _band(x.shape[-1], depth_radius))
    return (wide * norm ** np.float32(-beta)).astype(x.dtype)


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
    norm = np.float32(bias) + np.float32(alpha) * _window_sums(np.square(wide), depth_radius)
    spread = _window_sums(dy * y.astype(np.float32) / norm, depth_radius)
    dx = dy * norm ** np.float32(-beta) - np.float32(2 * alpha * beta) * wide * spread
    return dx.astype(x.dtype)


REGISTRATIONS = (
    kernel("LRN", lrn, T=_TYPES),
    kernel("LRNGrad", lrn_gradient, T=_TYPES),
)
