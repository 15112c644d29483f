"""Images in other sizes, as tf.image.resize has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.available_memory import check_room
from ...lite.errors import ModelError, UnsupportedError
from ...schema.graph_def import DT_FLOAT
from ..building.contraction import product
from ..building.tensor import Tensor

_TABLE = 1024
_REACH = {"bilinear": 1.0, "bicubic": 2.0, "lanczos3": 3.0, "lanczos5": 5.0}


def resized(x: Tensor, sizes: Sequence[int], mode: str, antialias: bool = False) -> Tensor:
    """[n, h, w, c] in a size, of floats; mode is nearest, bilinear, bicubic, lanczos3, lanczos5 or area."""
    body = x.body
    if mode == "nearest":
        if x.type != DT_FLOAT:
            return body.cast(resized(body.cast(x, DT_FLOAT), sizes, mode), x.type)
        return body.op("ResizeNearestNeighbor", x, body.integers(sizes), half_pixel_centers=True)
    if 0 in x.sizes[1:3]:
        raise ModelError(f"images must have pixels, got height {x.sizes[1]} and width {x.sizes[2]}")
    x = body.cast(x, DT_FLOAT)
    if -1 in (*sizes, *x.sizes[1:3]):
        raise UnsupportedError(
            f"interpolation {mode}: height and width must be known; input_shapes tells them"
        )
    if mode == "bilinear" and not antialias:
        return body.op("ResizeBilinear", x, body.integers(sizes), half_pixel_centers=True)
    for axis, new in zip((1, 2), sizes, strict=True):
        x = by_matrix(x, axis, shares(x.sizes[axis], new, mode, antialias))
    return x


def by_matrix(x: Tensor, axis: int, matrix: np.ndarray) -> Tensor:
    """One axis by a matrix [new, old]."""
    body = x.body
    weights = body.constant(np.ascontiguousarray(matrix.T.astype(np.float32)))
    order = [*(each for each in range(x.rank) if each != axis), axis]
    return body.transposed(product(body.transposed(x, order), weights), list(np.argsort(order)))


def shares(old: int, new: int, mode: str, antialias: bool) -> np.ndarray:
    """The share [new, old] that each old element has in each new one."""
    if mode == "area":
        return _areas(old, new)
    if mode not in _REACH:
        raise ModelError(f"interpolation must be one of nearest, area, {', '.join(_REACH)}, got {mode!r}")
    check_room(8 * new * old)
    scale = new / old
    stretch = max(1 / scale, 1.0) if antialias else 1.0
    centers = (np.arange(new) + 0.5) / scale
    if mode == "bicubic" and not antialias:
        return _old_cubic(old, centers - 0.5)
    distance = np.abs(np.arange(old) + 0.5 - centers[:, None]) / stretch
    share = _kernel(distance, mode)
    return share / share.sum(1, keepdims=True)


def _kernel(distance: np.ndarray, mode: str) -> np.ndarray:
    if mode == "bilinear":
        return np.maximum(1 - distance, 0)
    if mode == "bicubic":
        return _cubic(distance, -0.5)
    reach = _REACH[mode]
    return np.where(distance < reach, np.sinc(distance) * np.sinc(distance / reach), 0)


def _cubic(distance: np.ndarray, a: float) -> np.ndarray:
    near = ((a + 2) * distance - (a + 3)) * distance**2 + 1
    far = ((a * distance - 5 * a) * distance + 8 * a) * distance - 4 * a
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


def _old_cubic(old: int, at: np.ndarray) -> np.ndarray:
    """Of TensorFlow's ResizeBicubic: places outside have no share, and the others are scaled up."""
    first = np.floor(at)
    # Its weights come from a table.
    at = first + np.round((at - first) * _TABLE) / _TABLE
    places = first[:, None].astype(np.int64) + np.arange(-1, 3)
    share = _cubic(np.abs(places - at[:, None]), -0.5)
    share = np.where((places >= 0) & (places < old), share, 0)
    share = share / share.sum(1, keepdims=True)
    matrix = np.zeros((len(at), old))
    np.add.at(matrix, (np.arange(len(at))[:, None], np.clip(places, 0, old - 1)), share)
    return matrix


def _areas(old: int, new: int) -> np.ndarray:
    """Means of the parts of elements that each new one covers."""
    edges = np.arange(new + 1) * old / new
    low = np.maximum(edges[:-1, None], np.arange(old))
    high = np.minimum(edges[1:, None], np.arange(1, old + 1))
    share = np.maximum(high - low, 0)
    return share / share.sum(1, keepdims=True)
