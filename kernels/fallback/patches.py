"""ExtractImagePatches and ExtractVolumePatches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .data_format import spatial
from .dtypes import BOOL, NUMBERS, REAL
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError
from .window import padded, patches, sliding_window


def _extracted(
    op: str, x: np.ndarray, ksizes: Sequence[int], strides: Sequence[int], rates: Sequence[int], padding: str
) -> np.ndarray:
    size = spatial(op, "ksizes", ksizes, False, x.ndim)
    steps = spatial(op, "strides", strides, False, x.ndim)
    spread = spatial(op, "rates", rates, False, x.ndim)
    window = sliding_window(op, x.shape[1:-1], size, steps, spread, padding)
    depth = int(np.prod(size)) * x.shape[-1]
    shape = checked_shape((len(x), *window.output, depth), x.dtype)
    return np.ascontiguousarray(patches(padded(x, window), window)).reshape(shape)


def extract_image_patches(
    x: np.ndarray, *, ksizes: list[int], strides: list[int], rates: list[int], padding: str
) -> np.ndarray:
    """[N, OH, OW, KH KW C]: what a window sees of x [N, H, W, C] at each of its places."""
    op = "ExtractImagePatches"
    if x.ndim != 4:
        raise InvalidArgumentError(f"{op}: images must have 4 dimensions, got {list(x.shape)}")
    return _extracted(op, x, ksizes, strides, rates, padding)


def extract_volume_patches(
    x: np.ndarray, *, ksizes: list[int], strides: list[int], padding: str
) -> np.ndarray:
    """[N, OD, OH, OW, KD KH KW C]: what a window sees of x [N, D, H, W, C] at each of its places."""
    op = "ExtractVolumePatches"
    if x.ndim != 5:
        raise InvalidArgumentError(f"{op}: input must have 5 dimensions, got {list(x.shape)}")
    return _extracted(op, x, ksizes, strides, (), padding)


REGISTRATIONS = (
    kernel("ExtractImagePatches", extract_image_patches, T=NUMBERS | BOOL),
    kernel("ExtractVolumePatches", extract_volume_patches, T=REAL),
)
