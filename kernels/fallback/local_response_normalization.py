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


def _windows(size: int, radius: int) -> list[tuple[slice, slice]]:
    """By how far they are apart: the channels that have others so far before or behind them, and these."""
    found = [(slice(None), slice(None))]
    for step in range(1, min(radius, size - 1) + 1):
        here, there = slice(step, None), slice(None, -step)
        found += [(here, there), (there, here)]
    return found


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
    return (wide * _to_minus(norm, beta)).astype(x.dtype)


def _to_minus(norm: np.ndarray, beta: float) -> np.ndarray:
    """norm^-beta by a logarithm, which negative ones do not have; of 1 and 1/2 directly."""
    if beta == 1:
        return 1 / norm
    return 1 / np.sqrt(norm) if beta == 0.5 else np.exp(np.log(norm) * np.float32(-beta))


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
    windows = _windows(x.shape[-1], depth_radius)
    squares, sums, dx = np.square(wide), np.zeros_like(wide), np.zeros_like(wide)
    for here, there in windows:
        sums[..., here] += squares[..., there]
    norm = np.float32(bias) + np.float32(alpha) * sums
    power, slope = norm ** np.float32(-beta), np.float32(-2 * alpha * beta) * y.astype(np.float32) / norm
    # Each product by itself, as in TensorFlow: infinities do not cancel before.
    for number, (here, there) in enumerate(windows):
        own = power[..., there] if not number else np.float32(0)
        dx[..., here] += (wide[..., here] * slope[..., there] + own) * dy[..., there]
    return dx.astype(x.dtype)


REGISTRATIONS = (
    kernel("LRN", lrn, T=_TYPES),
    kernel("LRNGrad", lrn_gradient, T=_TYPES),
)
