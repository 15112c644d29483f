"""DrawBoundingBoxes, and V2 with colours of one's own."""

from __future__ import annotations

import numpy as np

from ...schema import graph_def
from .registry import kernel
from .status import InvalidArgumentError

_TYPES = frozenset((graph_def.DT_FLOAT, graph_def.DT_HALF))
# Yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia; the last column is alpha.
_COLORS = np.array(
    [
        *([1, 1, 0, 1], [0, 0, 1, 1], [1, 0, 0, 1], [0, 1, 0, 1], [0.5, 0, 0.5, 1]),
        *([0.5, 0.5, 0, 1], [0.5, 0, 0, 1], [0, 0, 0.5, 1], [0, 1, 1, 1], [1, 0, 1, 1]),
    ],
    np.float32,
)


def _draw(image: np.ndarray, box: np.ndarray, color: np.ndarray) -> None:
    """The box's border, one pixel wide, as far as it is within image [H, W, C]."""
    height, width = image.shape[:2]
    with np.errstate(invalid="ignore"):
        ends = box.astype(np.float32) * np.array([height - 1, width - 1] * 2, np.float32)
    # What no int64 holds is its lowest value, also where it is above all.
    top, left, bottom, right = (int(end) if abs(end) < 2.0**63 else -(2**63) for end in ends)
    if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    for row in (top, bottom):
        if 0 <= row < height:
            image[row, columns] = color
    for column in (left, right):
        if 0 <= column < width:
            image[rows, column] = color


def _drawn(op: str, images: np.ndarray, boxes: np.ndarray, colors: np.ndarray) -> np.ndarray:
    if images.ndim != 4 or not 0 < images.shape[3] <= 4:
        raise InvalidArgumentError(f"{op}: images must be [N, H, W, 1 to 4], got {list(images.shape)}")
    if boxes.ndim != 3 or len(boxes) != len(images) or boxes.shape[2] != 4:
        raise InvalidArgumentError(f"{op}: boxes must be [{len(images)}, n, 4], got {list(boxes.shape)}")
    drawn = images.copy()
    for image, of_image in zip(drawn, boxes, strict=True):
        for number, box in enumerate(of_image):
            _draw(image, box, colors[number % len(colors), : images.shape[3]])
    return drawn


def draw_bounding_boxes(images: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """images [N, H, W, C] with boxes [N, n, 4] (y1, x1, y2, x2, from 0 to 1) drawn in ten colours.

    Source: TensorFlow tensorflow/core/kernels/image/draw_bounding_box_op.cc.
    """
    colors = _COLORS
    if images.ndim == 4 and images.shape[3] == 1:
        colors = np.ones((1, 1), np.float32)
    return _drawn("DrawBoundingBoxes", images, boxes, colors)


def draw_bounding_boxes_v2(images: np.ndarray, boxes: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """DrawBoundingBoxes in colors [k, C], taken in turn; no colours stand for the ten."""
    op = "DrawBoundingBoxesV2"
    if not colors.size:
        return draw_bounding_boxes(images, boxes)
    if colors.ndim != 2 or images.ndim != 4 or colors.shape[1] < images.shape[3]:
        message = "colors must be a matrix with a column for each channel"
        raise InvalidArgumentError(f"{op}: {message}, got {list(colors.shape)} for {list(images.shape)}")
    return _drawn(op, images, boxes, colors.astype(np.float32))


REGISTRATIONS = (
    kernel("DrawBoundingBoxes", draw_bounding_boxes, T=_TYPES),
    kernel("DrawBoundingBoxesV2", draw_bounding_boxes_v2, T=_TYPES),
)
