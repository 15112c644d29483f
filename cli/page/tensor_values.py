"""What values say of a tensor: their histogram, and the reals that a quantized type can stand for."""

from __future__ import annotations

import numpy as np

from .document import Histogram

_BINS = 48
_BITS = {"int2": 2, "int4": 4, "int8": 8, "int16": 16, "int32": 32, "uint4": 4, "uint8": 8}
_FEWEST = 8  # values that make a histogram; so many are not shown one by one
_LONGEST = 24  # letters of the values of one tensor


def histogram(values: np.ndarray) -> Histogram | None:
    """Of numbers; None of others, and of few."""
    if values.dtype.kind not in "fiub" or values.size < _FEWEST:
        return None
    flat = values.astype(
        np.float32 if values.dtype.kind == "f" and values.dtype.itemsize <= 4 else np.float64
    )
    flat = flat.reshape(-1)
    finite = flat[np.isfinite(flat)]
    if not finite.size:
        return None
    low, high = float(finite.min()), float(finite.max())
    counts, _ = np.histogram(finite, _BINS, (low, high) if high > low else (low - 0.5, low + 0.5))
    return Histogram(
        low,
        high,
        counts.tolist(),
        float(finite.mean(dtype=np.float64)),
        float(finite.std(dtype=np.float64)),
        float((finite == 0).mean()),
        int(flat.size - finite.size),
    )


def few_values(values: np.ndarray) -> str:
    """The values of a small tensor in words: 2, or [1, 224, 224, 3]; "" of others."""
    if values.dtype.kind not in "fiub" or values.size >= _FEWEST:
        return ""
    listed = [f"{value:.4g}" if values.dtype.kind == "f" else str(value) for value in values.reshape(-1)]
    text = listed[0] if values.ndim == 0 else f"[{', '.join(listed)}]"
    return text if len(text) <= _LONGEST else ""


def reals(values: np.ndarray, scales: np.ndarray, zero_points: np.ndarray, axis: int) -> np.ndarray:
    """The numbers that stored values stand for; the values themselves where they are not quantized.

    scales and zero_points are one each, or one for each index of the axis. What does not fit the values'
    shape counts for nothing.
    """
    if values.dtype.kind not in "iu" or not len(scales) or not 0 <= axis < max(values.ndim, 1):
        return values
    if len(scales) > 1 and len(scales) != values.shape[axis]:
        return values
    shape = [1] * values.ndim
    if len(scales) > 1:
        shape[axis] = -1
    points = np.resize(zero_points, len(scales)) if len(zero_points) else np.zeros(len(scales))
    scales, points = (np.asarray(each, np.float32).reshape(shape) for each in (scales, points))
    return (values.astype(np.float32) - points) * scales


def real_range(type: str, scales: np.ndarray, zero_points: np.ndarray) -> tuple[float, float] | None:
    """The least and the greatest real that the type's integers stand for; None where they stand for none."""
    if type not in _BITS or not len(scales):
        return None
    bits = _BITS[type]
    least = 0 if type.startswith("u") else -(1 << bits - 1)
    greatest = least + (1 << bits) - 1
    points = np.resize(zero_points, len(scales)) if len(zero_points) else np.zeros(len(scales))
    ends = np.stack([(least - points) * scales, (greatest - points) * scales])
    return float(np.nanmin(ends)), float(np.nanmax(ends))
