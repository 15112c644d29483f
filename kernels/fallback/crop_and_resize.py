"""CropAndResize: boxes cut from images and resized to one size, and its gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...schema import graph_def
from ..requantize import round_half_away
from .attributes import DataType
from .conv import sizes
from .dtypes import REAL, numpy_dtype
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError, OutOfRangeError

_FLOATS = frozenset((graph_def.DT_FLOAT, graph_def.DT_HALF, graph_def.DT_DOUBLE))
_METHODS = ("bilinear", "nearest")


@dataclass(frozen=True)
class _Axis:
    """Places of the samples along one axis: [boxes, crop], with the pixels around and the nearness.

    inside says which places are within the image; the others' pixels are 0.
    """

    low: np.ndarray
    high: np.ndarray
    weight: np.ndarray
    nearest: np.ndarray
    inside: np.ndarray


def _axis(start: np.ndarray, end: np.ndarray, size: int, crop: int, by_ratio: bool) -> _Axis:
    """For boxes from start to end, 0 and 1 being the first and the last of size pixels.

    by_ratio divides the sizes before it multiplies by the box, which moves the last bit of places.
    Source: TensorFlow tensorflow/core/kernels/image/crop_and_resize_op.cc.
    """
    last = np.float32(size - 1)
    steps = np.arange(crop, dtype=np.float32)
    if crop > 1:
        width, steps_of = end - start, np.float32(crop - 1)
        scale = width * (last / steps_of) if by_ratio else width * last / steps_of
        places = (start * last)[:, np.newaxis] + steps * scale[:, np.newaxis]
    else:
        places = (np.float32(0.5) * (start + end) * last)[:, np.newaxis]
    inside = (places >= 0) & (places <= last)
    held = np.where(inside, places, np.float32(0))
    low = np.floor(held)
    whole = (low.astype(np.int64), np.ceil(held).astype(np.int64))
    return _Axis(*whole, held - low, round_half_away(held).astype(np.int64), inside)


def _checked(
    op: str, boxes: np.ndarray, box_index: np.ndarray, batch: int, method: str
) -> tuple[np.ndarray, np.ndarray]:
    """boxes [n, 4] and box_index [n]; no boxes may have any empty shape."""
    if not boxes.size and not box_index.size:
        boxes, box_index = boxes.reshape(0, 4), box_index.reshape(0)
    if boxes.ndim != 2 or boxes.shape[1] != 4 or box_index.shape != (len(boxes),):
        message = "boxes must be [n, 4] and box_index [n]"
        raise InvalidArgumentError(f"{op}: {message}, got {list(boxes.shape)} and {list(box_index.shape)}")
    if method not in _METHODS:
        raise InvalidArgumentError(f"{op}: method must be bilinear or nearest, got {method!r}")
    wrong = (box_index < 0) | (box_index >= batch)
    if np.any(wrong):
        raise OutOfRangeError(f"{op}: box_index must be from 0 to {batch - 1}, got {box_index[wrong][0]}")
    return boxes, box_index


def _axes(
    boxes: np.ndarray, size: tuple[int, int], crop: tuple[int, int], by_ratio: bool = False
) -> tuple[_Axis, _Axis]:
    y1, x1, y2, x2 = boxes.astype(np.float32).T
    return _axis(y1, y2, size[0], crop[0], by_ratio), _axis(x1, x2, size[1], crop[1], by_ratio)


def _both(rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[boxes, crop_h] and [boxes, crop_w], made to go together."""
    return rows[:, :, np.newaxis], columns[:, np.newaxis, :]


def crop_and_resize(
    image: np.ndarray,
    boxes: np.ndarray,
    box_index: np.ndarray,
    crop_size: np.ndarray,
    *,
    method: str,
    extrapolation_value: float,
) -> np.ndarray:
    """float32 [boxes, crop_h, crop_w, C]: boxes (y1, x1, y2, x2), each of one image [N, H, W, C].

    Places outside the image get the extrapolation value.
    """
    op = "CropAndResize"
    if image.ndim != 4 or 0 in image.shape[1:3]:
        raise InvalidArgumentError(f"{op}: image must be [N, H, W, C], not empty, got {list(image.shape)}")
    boxes, box_index = _checked(op, boxes, box_index, len(image), method)
    crop = sizes(op, "crop_size", crop_size)
    if len(crop) != 2 or 0 in crop:
        raise InvalidArgumentError(f"{op}: crop_size must be 2 positive sizes, got {list(crop)}")
    checked_shape((len(boxes), *crop, image.shape[3]), np.dtype(np.float64))
    rows, columns = _axes(boxes, image.shape[1:3], crop)
    which = box_index[:, np.newaxis, np.newaxis]
    if method == "nearest":
        found = image[(which, *_both(rows.nearest, columns.nearest))].astype(np.float32)
    else:
        down, across = (weight[..., np.newaxis] for weight in _both(rows.weight, columns.weight))
        edges = []
        for place in (rows.low, rows.high):
            left, right = (
                image[(which, *_both(place, other))].astype(np.float32)
                for other in (columns.low, columns.high)
            )
            edges.append(left + (right - left) * across)
        found = edges[0] + (edges[1] - edges[0]) * down
    outside = ~np.logical_and(*_both(rows.inside, columns.inside))
    found[outside] = extrapolation_value
    return found


def crop_and_resize_image_gradient(
    gradient: np.ndarray,
    boxes: np.ndarray,
    box_index: np.ndarray,
    image_size: np.ndarray,
    *,
    method: str,
    T: DataType,
) -> np.ndarray:
    """The gradient of the images, of image_size [N, H, W, C]."""
    op = "CropAndResizeGradImage"
    shape = sizes(op, "image_size", image_size)
    if len(shape) != 4 or 0 in shape[1:3] or gradient.ndim != 4 or gradient.shape[3] != shape[3]:
        message = "image_size must be [N, H, W, C] and grads have as many channels"
        raise InvalidArgumentError(f"{op}: {message}, got {list(shape)} and {list(gradient.shape)}")
    boxes, box_index = _checked(op, boxes, box_index, shape[0], method)
    if len(gradient) != len(boxes):
        raise InvalidArgumentError(f"{op}: grads must be of {len(boxes)} boxes, got {len(gradient)}")
    dtype = numpy_dtype(T)
    wide = np.dtype(np.float64 if dtype.itemsize == 8 else np.float32)
    total = np.zeros(checked_shape(shape, wide), wide)
    rows, columns = _axes(boxes, (shape[1], shape[2]), gradient.shape[1:3])
    which = box_index[:, np.newaxis, np.newaxis]
    inside = np.logical_and(*_both(rows.inside, columns.inside))[..., np.newaxis]
    dy = np.where(inside, gradient, np.float32(0))
    if method == "nearest":
        np.add.at(total, (which, *_both(rows.nearest, columns.nearest)), dy)
        return total.astype(dtype)
    for place, nearness in ((rows.low, 1 - rows.weight), (rows.high, rows.weight)):
        for other, beside in ((columns.low, 1 - columns.weight), (columns.high, columns.weight)):
            weight = np.multiply(*_both(nearness, beside))[..., np.newaxis]
            np.add.at(total, (which, *_both(place, other)), dy * weight)
    return total.astype(dtype)


def crop_and_resize_boxes_gradient(
    gradient: np.ndarray, image: np.ndarray, boxes: np.ndarray, box_index: np.ndarray, *, method: str
) -> np.ndarray:
    """The gradient of the boxes, float32 [n, 4]."""
    op = "CropAndResizeGradBoxes"
    if image.ndim != 4 or 0 in image.shape[1:3] or gradient.ndim != 4:
        message = "image and grads must have 4 dimensions and image not be empty"
        raise InvalidArgumentError(f"{op}: {message}, got {list(image.shape)} and {list(gradient.shape)}")
    boxes, box_index = _checked(op, boxes, box_index, len(image), method)
    if len(gradient) != len(boxes) or gradient.shape[3] != image.shape[3] or 0 in gradient.shape[1:3]:
        message = f"grads must be of {len(boxes)} boxes and {image.shape[3]} channels"
        raise InvalidArgumentError(f"{op}: {message}, got {list(gradient.shape)}")
    rows, columns = _axes(boxes, image.shape[1:3], gradient.shape[1:3], by_ratio=True)
    which = box_index[:, np.newaxis, np.newaxis]
    corners = [
        image[(which, *_both(place, other))].astype(np.float32)
        for place in (rows.low, rows.high)
        for other in (columns.low, columns.high)
    ]
    top_left, top_right, bottom_left, bottom_right = corners
    down, across = (weight[..., np.newaxis] for weight in _both(rows.weight, columns.weight))
    slope_y = (1 - across) * (bottom_left - top_left) + across * (bottom_right - top_right)
    slope_x = (1 - down) * (top_right - top_left) + down * (bottom_right - bottom_left)
    inside = np.logical_and(*_both(rows.inside, columns.inside))
    by_y = np.where(inside, (slope_y * gradient).sum(axis=3), 0)
    by_x = np.where(inside, (slope_x * gradient).sum(axis=3), 0)
    y1, y2 = _ends(by_y.sum(axis=2), image.shape[1])
    x1, x2 = _ends(by_x.sum(axis=1), image.shape[2])
    return np.stack([y1, x1, y2, x2], axis=1).astype(np.float32)


def _ends(slopes: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of a box's start and end, for that of its places [boxes, crop]."""
    crop = slopes.shape[1]
    if crop == 1:
        half = slopes[:, 0] * (0.5 * (size - 1))
        return half, half
    part = np.arange(crop) * ((size - 1) / (crop - 1))
    return slopes @ (size - 1 - part), slopes @ part


REGISTRATIONS = (
    kernel("CropAndResize", crop_and_resize, T=REAL),
    kernel("CropAndResizeGradImage", crop_and_resize_image_gradient, T=_FLOATS),
    kernel("CropAndResizeGradBoxes", crop_and_resize_boxes_gradient, T=REAL),
)
