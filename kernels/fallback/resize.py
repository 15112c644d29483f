"""ResizeBilinear, ResizeNearestNeighbor, ResizeBicubic and ResizeArea, and their gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...schema import graph_def
from .dtypes import FLOATS, REAL
from .half_precision import widened
from .kernel import checked_shape
from .registry import kernel
from .resampling import (
    Taps,
    area_taps,
    check_centers,
    cubic_taps,
    linear_taps,
    nearest_indices,
    resize_scale,
)
from .status import InvalidArgumentError

_SINGLE_OR_DOUBLE = frozenset((graph_def.DT_FLOAT, graph_def.DT_DOUBLE))
Interpolation = Callable[[int, int, np.float32, bool], Taps]


def wanted_size(op: str, x: np.ndarray, size: np.ndarray, least: int = 1) -> tuple[int, int]:
    """Height and width of the output; InvalidArgumentError unless x [N, H, W, C] can be resized.

    H and W must be least or more.
    """
    if x.ndim != 4 or size.shape != (2,):
        message = "images must have 4 dimensions and size 2 elements"
        raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)} and {list(size.shape)}")
    height, width = (int(value) for value in size)
    if height < 1 or width < 1 or min(x.shape[1:3]) < least:
        message = "image and output sizes must be positive"
        raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)} and {[height, width]}")
    checked_shape((x.shape[0], height, width, x.shape[3]), np.dtype(np.float64))
    return height, width


def _axis_taps(
    op: str,
    sizes: tuple[int, int],
    wanted: tuple[int, int],
    align_corners: bool,
    half_pixel_centers: bool,
    interpolation: Interpolation,
) -> tuple[Taps, Taps]:
    scales = [resize_scale(op, n, m, align_corners) for n, m in zip(sizes, wanted, strict=True)]
    return (
        interpolation(sizes[0], wanted[0], scales[0], half_pixel_centers),
        interpolation(sizes[1], wanted[1], scales[1], half_pixel_centers),
    )


def _resized(x: np.ndarray, rows: Taps, columns: Taps) -> np.ndarray:
    return rows.apply(columns.apply(x.astype(np.float32), 2), 1)


def _interpolated(
    op: str,
    x: np.ndarray,
    size: np.ndarray,
    align_corners: bool,
    half_pixel_centers: bool,
    interpolation: Interpolation,
) -> np.ndarray:
    wanted, sizes = wanted_size(op, x, size), (x.shape[1], x.shape[2])
    return _resized(x, *_axis_taps(op, sizes, wanted, align_corners, half_pixel_centers, interpolation))


def bilinear(
    op: str, x: np.ndarray, size: np.ndarray, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """x [N, H, W, C] resized by straight lines between pixels, float32, with centers of any kind.

    Source: TensorFlow tensorflow/core/kernels/image/resize_bilinear_op.cc, compute_lerp.
    """
    wanted, sizes = wanted_size(op, x, size), (x.shape[1], x.shape[2])
    rows, columns = _axis_taps(op, sizes, wanted, align_corners, half_pixel_centers, linear_taps)
    return (
        x.astype(np.float32)
        if wanted == sizes
        else _lerped(_lerped(x.astype(np.float32), columns, 2), rows, 1)
    )


def _lerped(x: np.ndarray, taps: Taps, axis: int) -> np.ndarray:
    """From the first pixel of each place along an axis as far to the second as its weight says."""
    low, high = (np.take(x, which, axis) for which in taps.indices.T)
    weights = taps.weights[:, 1].reshape(-1, *(1,) * (x.ndim - 1 - axis))
    with np.errstate(invalid="ignore", over="ignore"):
        return np.asarray(low + (high - low) * weights)


def wide_bilinear(op: str, x: np.ndarray, size: np.ndarray, align_corners: bool) -> np.ndarray:
    """x [N, H, W, C] resized by straight lines between pixels, float64; places are float32 even so."""
    wanted, sizes = wanted_size(op, x, size), (x.shape[1], x.shape[2])
    taps = _axis_taps(op, sizes, wanted, align_corners, False, linear_taps)
    behind = [each.weights[:, 1].astype(np.float64) for each in taps]
    rows, columns = (
        Taps(each.indices, np.stack([1 - part, part], 1)) for each, part in zip(taps, behind, strict=True)
    )
    return rows.apply(columns.apply(x.astype(np.float64), 2), 1)


def resize_bilinear(
    x: np.ndarray, size: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """x [N, H, W, C] resized by straight lines between pixels, float32."""
    check_centers("ResizeBilinear", align_corners, half_pixel_centers)
    return bilinear("ResizeBilinear", x, size, align_corners, half_pixel_centers)


def resize_bicubic(
    x: np.ndarray, size: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """x [N, H, W, C] resized by cubics between pixels, float32."""
    check_centers("ResizeBicubic", align_corners, half_pixel_centers)
    return _interpolated("ResizeBicubic", x, size, align_corners, half_pixel_centers, cubic_taps)


def resize_area(x: np.ndarray, size: np.ndarray, *, align_corners: bool) -> np.ndarray:
    """x [N, H, W, C], each output pixel the mean of the area it covers, float32."""
    op = "ResizeArea"
    height, width = wanted_size(op, x, size)
    down = resize_scale(op, x.shape[1], height, align_corners)
    across = resize_scale(op, x.shape[2], width, align_corners)
    return _resized(x, area_taps(x.shape[1], height, down), area_taps(x.shape[2], width, across))


def resize_nearest(
    x: np.ndarray, size: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """x [N, H, W, C], each output pixel the nearest one, in x's type."""
    op = "ResizeNearestNeighbor"
    height, width = wanted_size(op, x, size)
    check_centers(op, align_corners, half_pixel_centers)
    rows, columns = _nearest(op, (x.shape[1], x.shape[2]), (height, width), align_corners, half_pixel_centers)
    return x[:, rows][:, :, columns]


def _nearest(
    op: str, sizes: tuple[int, int], wanted: tuple[int, int], align_corners: bool, half_pixel_centers: bool
) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = (
        nearest_indices(n, m, resize_scale(op, n, m, align_corners), align_corners, half_pixel_centers)
        for n, m in zip(sizes, wanted, strict=True)
    )
    return rows, columns


def resize_nearest_gradient(
    gradient: np.ndarray, size: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """The gradient of an image of the size, height and width, for ResizeNearestNeighbor's output's."""
    op = "ResizeNearestNeighborGrad"
    height, width = wanted_size(op, gradient, size, least=0)
    wanted = (gradient.shape[1], gradient.shape[2])
    dy = widened(gradient)
    dx = np.zeros((len(dy), height, width, dy.shape[3]), dy.dtype)
    if 0 in wanted:
        return dx.astype(gradient.dtype)
    rows, columns = _nearest(op, (height, width), wanted, align_corners, half_pixel_centers)
    images = np.arange(len(dy))[:, np.newaxis, np.newaxis]
    np.add.at(dx, (images, rows[:, np.newaxis], columns), dy)
    return dx.astype(gradient.dtype)


def _gradient(
    op: str,
    gradient: np.ndarray,
    x: np.ndarray,
    align_corners: bool,
    half_pixel_centers: bool,
    interpolation: Interpolation,
) -> np.ndarray:
    if gradient.ndim != 4 or x.ndim != 4:
        message = "gradient and image must have 4 dimensions"
        raise InvalidArgumentError(f"{op}: {message}, got {list(gradient.shape)} and {list(x.shape)}")
    check_centers(op, align_corners, half_pixel_centers)
    sizes, wanted = (x.shape[1], x.shape[2]), (gradient.shape[1], gradient.shape[2])
    rows, columns = _axis_taps(op, sizes, wanted, align_corners, half_pixel_centers, interpolation)
    # Products are float32, whatever the sums are.
    dtype = np.dtype(np.float64 if x.dtype == np.float64 else np.float32)
    shape = checked_shape((len(gradient), *sizes, gradient.shape[3]), dtype)
    total, images = np.zeros(shape, dtype), np.arange(len(gradient))[:, np.newaxis, np.newaxis]
    for i, down in zip(rows.indices.T, rows.weights.T, strict=True):
        scaled = gradient.astype(np.float32) * down[:, np.newaxis, np.newaxis]
        for j, across in zip(columns.indices.T, columns.weights.T, strict=True):
            np.add.at(total, (images, i[:, np.newaxis], j), scaled * across[:, np.newaxis])
    return total.astype(x.dtype)


def resize_bilinear_gradient(
    gradient: np.ndarray, x: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """The gradient of ResizeBilinear's input x, of which height, width and type count."""
    return _gradient("ResizeBilinearGrad", gradient, x, align_corners, half_pixel_centers, linear_taps)


def resize_bicubic_gradient(
    gradient: np.ndarray, x: np.ndarray, *, align_corners: bool, half_pixel_centers: bool
) -> np.ndarray:
    """The gradient of ResizeBicubic's input x, of which height, width and type count."""
    return _gradient("ResizeBicubicGrad", gradient, x, align_corners, half_pixel_centers, cubic_taps)


REGISTRATIONS = (
    kernel("ResizeBilinear", resize_bilinear, T=REAL),
    kernel("ResizeBicubic", resize_bicubic, T=REAL),
    kernel("ResizeArea", resize_area, T=REAL),
    kernel("ResizeNearestNeighbor", resize_nearest, T=REAL),
    kernel("ResizeNearestNeighborGrad", resize_nearest_gradient, T=REAL),
    kernel("ResizeBilinearGrad", resize_bilinear_gradient, T=FLOATS),
    kernel("ResizeBicubicGrad", resize_bicubic_gradient, T=_SINGLE_OR_DOUBLE),
)
