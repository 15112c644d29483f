"""Resampling of images along one axis after the other: each output a weighted sum of a few inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..requantize import round_half_away
from .kernel import checked_shape
from .status import InvalidArgumentError

# Bicubic weights come from a table of this many places between two pixels.
_CUBIC_TABLE = 1024
_TINY = 1000 * float(np.finfo(np.float32).tiny)


@dataclass(frozen=True)
class Taps:
    """For each output along an axis, the inputs it is made of: indices and weights, [output, taps].

    Weights are float32; indices are within the input. Taps that are not `counted` add nothing, not even of
    what is infinite.
    """

    indices: np.ndarray
    weights: np.ndarray
    counted: np.ndarray | None = None

    def apply(self, x: np.ndarray, axis: int) -> np.ndarray:
        """x, float32, resampled along the axis."""
        shape = list(x.shape)
        shape[axis] = len(self.indices)
        total = np.zeros(checked_shape(shape, x.dtype), x.dtype)
        for tap, (indices, weights) in enumerate(zip(self.indices.T, self.weights.T, strict=True)):
            added = np.take(x, indices, axis) * _along(weights, axis, x.ndim)
            if self.counted is not None:
                added = np.where(_along(self.counted[:, tap], axis, x.ndim), added, np.float32(0))
            total += added
        return total


def _along(weights: np.ndarray, axis: int, rank: int) -> np.ndarray:
    shape = [1] * rank
    shape[axis] = -1
    return weights.reshape(shape)


def resize_scale(op: str, size: int, wanted: int, align_corners: bool) -> np.float32:
    """How many input pixels an output pixel is wide."""
    if size < 1 or wanted < 1:
        raise InvalidArgumentError(f"{op}: image and output sizes must be positive, got {size} and {wanted}")
    if align_corners and wanted > 1:
        return np.float32(size - 1) / np.float32(wanted - 1)
    return np.float32(size) / np.float32(wanted)


def check_centers(op: str, align_corners: bool, half_pixel_centers: bool) -> None:
    if align_corners and half_pixel_centers:
        raise InvalidArgumentError(f"{op}: align_corners must be False where half_pixel_centers is True")


def _places(wanted: int, scale: np.float32, half_pixel_centers: bool) -> np.ndarray:
    """Where each output pixel lies in the input, float32."""
    pixels = np.arange(wanted, dtype=np.float32)
    if half_pixel_centers:
        half = np.float32(0.5)
        return np.asarray((pixels + half) * scale - half)
    return np.asarray(pixels * scale)


def nearest_indices(
    size: int, wanted: int, scale: np.float32, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """The input pixel that each output pixel is.

    Source: TensorFlow tensorflow/core/kernels/image/resize_nearest_neighbor_op.cc.
    """
    pixels = np.arange(wanted, dtype=np.float32)
    places = (pixels + np.float32(0.5)) * scale if half_pixel_centers else pixels * scale
    whole = round_half_away(places) if align_corners else np.floor(places)
    return np.clip(whole.astype(np.int64), 0, size - 1)


def linear_taps(size: int, wanted: int, scale: np.float32, half_pixel_centers: bool) -> Taps:
    """The two pixels around each place, by their nearness.

    Source: TensorFlow tensorflow/core/kernels/image/resize_bilinear_op.cc.
    """
    places = _places(wanted, scale, half_pixel_centers)
    floor = np.floor(places)
    upper = np.minimum(np.ceil(places), size - 1)
    lower = np.minimum(np.maximum(floor, 0), upper)
    weight = places - floor
    indices = np.stack([lower, upper], axis=1).astype(np.int64)
    return Taps(indices, np.stack([1 - weight, weight], axis=1))


def cubic_taps(size: int, wanted: int, scale: np.float32, half_pixel_centers: bool) -> Taps:
    """The four pixels around each place, by a cubic; beyond the border its pixel is repeated.

    With half_pixel_centers what is beyond the border does not count.
    Source: TensorFlow tensorflow/core/kernels/image/resize_bicubic_op.cc.
    """
    places = _places(wanted, scale, half_pixel_centers)
    floor = np.floor(places)
    offset = np.rint((places - floor) * np.float32(_CUBIC_TABLE)) / _CUBIC_TABLE
    distances = np.stack([1 + offset, offset, 1 - offset, 2 - offset], axis=1)
    weights = _cubic(distances, -0.5 if half_pixel_centers else -0.75).astype(np.float32)
    wished = floor.astype(np.int64)[:, np.newaxis] + np.arange(-1, 3)
    indices = np.clip(wished, 0, size - 1)
    if half_pixel_centers:
        weights = np.where(indices == wished, weights, np.float32(0))
        weights = _normalized(weights)
    return Taps(indices, weights)


def _normalized(weights: np.ndarray) -> np.ndarray:
    """Weights [output, taps] that sum to 1, unless they sum to nothing."""
    total = weights.sum(axis=1, keepdims=True)
    return np.where(np.abs(total) >= _TINY, weights / total, weights).astype(np.float32)


def _cubic(x: np.ndarray, a: float) -> np.ndarray:
    """Keys's cubic convolution at the distances x, from 0 to 2."""
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.where(x <= 1, near, far)


def area_taps(size: int, wanted: int, scale: np.float32) -> Taps:
    """The pixels that each output pixel covers, by how much of them.

    Source: TensorFlow tensorflow/core/kernels/image/resize_area_op.cc.
    """
    if scale == 0:
        # One row, its corners aligned.
        return Taps(np.zeros((wanted, 1), np.int64), np.ones((wanted, 1), np.float32))
    starts = np.arange(wanted, dtype=np.float32) * scale
    ends = (np.arange(wanted, dtype=np.float32) + 1) * scale
    first = np.floor(starts).astype(np.int64)
    last = np.ceil(ends).astype(np.int64)
    places = first[:, np.newaxis] + np.arange((last - first).max())
    low = np.maximum(places, starts[:, np.newaxis])
    high = np.minimum(places + 1, ends[:, np.newaxis])
    weights = np.maximum(high - low, 0) / scale
    counted = places < last[:, np.newaxis]
    return Taps(np.clip(places, 0, size - 1), weights.astype(np.float32), counted)
