"""Windowed operators in NumPy, from their definitions: padding, convolution, depthwise convolution."""

from __future__ import annotations

import numpy as np

SAME, VALID = 0, 1


def windows(
    x: np.ndarray,
    size: tuple[int, int],
    stride: tuple[int, int],
    dilation: tuple[int, int],
    padding: int,
    fill: float = 0,
) -> np.ndarray:
    """What each output position sees of x [N, H, W, C]: [N, OH, OW, KH, KW, C]; `fill` outside x."""
    taken = x
    for axis in (0, 1):
        n, k = x.shape[1 + axis], (size[axis] - 1) * dilation[axis] + 1
        out = -(-n // stride[axis]) if padding == SAME else (n - k) // stride[axis] + 1
        before = max(0, (out - 1) * stride[axis] + k - n) // 2
        at = np.arange(out)[:, None] * stride[axis] + np.arange(size[axis]) * dilation[axis]
        wide = [(0, 0)] * taken.ndim
        wide[1 + 2 * axis] = (before, k + stride[axis])
        taken = np.take(np.pad(taken, wide, constant_values=fill), at, axis=1 + 2 * axis)
    return taken.transpose(0, 1, 3, 2, 4, 5)


def conv_2d(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    stride: tuple[int, int],
    dilation: tuple[int, int],
    padding: int,
) -> np.ndarray:
    """x [N, H, W, C], w [O, KH, KW, C / groups], in float64 or int64; no activation."""
    wide = np.float64 if x.dtype.kind == "f" else np.int64
    depth = w.shape[3]
    groups = x.shape[3] // depth
    seen = windows(x.astype(wide), w.shape[1:3], stride, dilation, padding)
    parts = []
    for g, weights in enumerate(np.split(w.astype(wide), groups)):
        part = seen[..., g * depth : (g + 1) * depth]
        parts.append(part.reshape(*part.shape[:3], -1) @ weights.reshape(len(weights), -1).T)
    y = np.concatenate(parts, axis=3)
    return y if bias is None else y + bias


def depthwise_conv_2d(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    stride: tuple[int, int],
    dilation: tuple[int, int],
    padding: int,
) -> np.ndarray:
    """x [N, H, W, C], w [1, KH, KW, C * multiplier], in float64 or int64; no activation."""
    wide = np.float64 if x.dtype.kind == "f" else np.int64
    seen = windows(x.astype(wide), w.shape[1:3], stride, dilation, padding)
    repeated = np.repeat(seen, w.shape[3] // x.shape[3], axis=5)
    y = np.einsum("nyxhwc,hwc->nyxc", repeated, w[0].astype(wide))
    return y if bias is None else y + bias


def clamp(y: np.ndarray, fused: int) -> np.ndarray:
    """The fused activation of a float operator, by the schema's number; the result is float32."""
    low, high = {0: (-np.inf, np.inf), 1: (0, np.inf), 2: (-1, 1), 3: (0, 6)}[fused]
    return np.clip(y, low, high).astype(np.float32)
