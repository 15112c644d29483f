"""TRANSPOSE_CONV in NumPy, for nodes that learn their output's shape when they run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ..lookup import multiply_by_quantized_multiplier, multiply_rounding_up
from ..requantize import UPWARD_ROUNDING, round_half_away
from .geometry import ConvGeometry
from .node import FilterNode
from .plain import sums_are_wide, upward
from .sums import hybrid_sums, quantized_sums

Scale = Callable[[np.ndarray, int, int], np.ndarray]


def compute(n: FilterNode) -> np.ndarray:
    """The output of a checked node, in the reference's arithmetic."""
    g, bias = n.geometry, n.biases(-1)
    if n.x.type == TensorType.FLOAT32:
        low, high = n.float_range
        sums = _hybrid_sums(n) if n.is_hybrid else _sums(n.x.array(), n.w.array(), g)
        if bias is not None:
            sums = sums + bias
        return np.clip(sums, np.float32(low), np.float32(high))
    f = quantized_sums(n)
    x, w = (t.array().astype(np.int64) for t in (n.x, n.w))
    sums = _sums(x - f.x_zero_point, w - f.w_zero_point, g)
    if bias is not None:
        sums += bias
    multipliers, shifts = f.requantization.multipliers, f.requantization.shifts

    def scaled_by(function: Scale) -> np.ndarray:
        channels = zip(multipliers.tolist(), shifts.tolist(), strict=True)
        return np.stack([function(sums[..., o], *pair) for o, pair in enumerate(channels)], axis=-1)

    if sums_are_wide(n):
        scaled = scaled_by(_scaled_wide)
    else:
        scaled = scaled_by(multiply_by_quantized_multiplier)
        if f.rounding == UPWARD_ROUNDING:
            elements, channels = upward(n, f)
            of_vectors = np.arange(scaled.size).reshape(scaled.shape) < elements
            of_vectors &= np.arange(g.out_depth) < channels
            scaled = np.where(of_vectors, scaled_by(multiply_rounding_up), scaled)
    return np.clip(scaled + f.y_zero_point, f.lowest, f.highest).astype(n.y.dtype)


def _sums(x: np.ndarray, w: np.ndarray, g: ConvGeometry) -> np.ndarray:
    """Sums of x [N, H, W, C] by w [O, KH, KW, C], in their type."""
    height = (g.in_height - 1) * g.stride_h + g.filter_height
    width = (g.in_width - 1) * g.stride_w + g.filter_width
    rows, columns = max(height, g.pad_top + g.out_height), max(width, g.pad_left + g.out_width)
    whole = np.zeros((g.batch, rows, columns, g.out_depth), x.dtype)
    for kh in range(g.filter_height):
        for kw in range(g.filter_width):
            part = whole[:, kh : kh + (g.in_height - 1) * g.stride_h + 1 : g.stride_h]
            part = part[:, :, kw : kw + (g.in_width - 1) * g.stride_w + 1 : g.stride_w]
            part += x @ w[:, kh, kw].T
    return whole[:, g.pad_top : g.pad_top + g.out_height, g.pad_left : g.pad_left + g.out_width]


def _hybrid_sums(n: FilterNode) -> np.ndarray:
    """Float sums of images quantized to -128..127, each by its own range."""
    f, g = hybrid_sums(n), n.geometry
    images = n.x.array().reshape(g.batch, -1)
    low, high = np.minimum(images.min(axis=1), 0), np.maximum(images.max(axis=1), 0)
    if not np.all(np.isfinite(low) & np.isfinite(high)):
        raise UnsupportedError("TRANSPOSE_CONV: images to be quantized must be finite, got infinities or NaN")
    wide = np.where(low == high, 1.0, (high - low).astype(np.float64) / 255)
    scales = wide.astype(np.float32)
    from_low, from_high = -128 - low / wide, 127 - high / wide
    better = np.where(128 + np.abs(low / wide) < 127 + np.abs(high / wide), from_low, from_high)
    zeros = np.where(low == high, 0, round_half_away(np.clip(better, -128, 127)))
    inverse = np.where(low == high, np.float32(0), np.float32(1) / scales).astype(np.float32)
    values = round_half_away((images * inverse[:, None]).astype(np.float64)) + zeros[:, None]
    quantized = np.clip(values, -128, 127) - zeros[:, None]
    x = quantized.astype(np.int64).reshape(g.batch, g.in_height, g.in_width, g.in_depth)
    sums = _sums(x, n.w.array().astype(np.int64), g)
    return (sums.astype(np.float32) * f.scales) * scales[:, None, None, None]


def _scaled_wide(sums: np.ndarray, multiplier: int, shift: int) -> np.ndarray:
    """int64 sums * multiplier * 2**(shift - 31), rounded half up, with 16 bits of the multiplier."""
    reduced = (multiplier + (1 << 15)) >> 16 if multiplier < 0x7FFF0000 else 0x7FFF
    total = 15 - shift
    return (sums * reduced + (1 << (total - 1))) >> total
