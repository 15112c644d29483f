"""SampleDistortedBoundingBox, V2 and stateless: a random crop that shows enough of an object."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .dtypes import INDICES, INTEGERS
from .kernel import KernelConstruction, KernelContext
from .random import RandomKernel
from .random_bits import PhiloxGenerator
from .registry import kernel, kernel_class
from .simple_philox import below, single
from .stateless_random import key_and_counter
from .status import InvalidArgumentError

_ALMOST_HALF = 0.5 - 0.0000001
# What is smaller is not counted as an object.
_LEAST_AREA = 1.0
_MOST_ATTEMPTS = 1 << 20


@dataclass(frozen=True)
class _Box:
    left: int
    top: int
    right: int
    bottom: int

    @property
    def area(self) -> int:
        return max(self.right - self.left, 0) * max(self.bottom - self.top, 0)

    def common(self, other: _Box) -> _Box:
        low = max(self.left, other.left), max(self.top, other.top)
        return _Box(*low, min(self.right, other.right), min(self.bottom, other.bottom))


def _width(height: int, ratio: np.float32) -> int:
    return int(np.rint(np.float32(height) * ratio))


def _crop(
    words: Iterator[int], size: tuple[int, int], areas: tuple[np.float32, np.float32], ratio: np.float32
) -> _Box | None:
    """A crop of the width by height ratio, its area between the two; None when there is none.

    Source: TensorFlow tensorflow/core/kernels/image/sample_distorted_bounding_box_op.cc,
    GenerateRandomCrop.
    """
    height, width = size
    least, most = (area * np.float32(width) * np.float32(height) for area in areas)
    low, high = (int(np.rint(np.sqrt(area / ratio))) for area in (least, most))
    if _width(high, ratio) > width:
        high = int((width + _ALMOST_HALF) / float(ratio))
        high -= _width(high, ratio) > width
    high = min(high, height)
    tall = min(low, high)
    if tall < high:
        tall += below(words, high - tall + 1)
    wide = _width(tall, ratio)
    # Rounding alone must not make it too small or too large.
    if tall * wide < least:
        tall += 1
        wide = _width(tall, ratio)
    if tall * wide > most:
        tall -= 1
        wide = _width(tall, ratio)
    if not (least <= tall * wide <= most and 0 < wide <= width and 0 < tall <= height):
        return None
    top = below(words, height - tall) if tall < height else 0
    left = below(words, width - wide) if wide < width else 0
    return _Box(left, top, left + wide, top + tall)


def _shows(crop: _Box, objects: list[_Box], least: float) -> bool:
    counted = [box for box in objects if box.area >= _LEAST_AREA]
    return any(crop.common(box).area / box.area >= least for box in counted)


def _objects(op: str, boxes: np.ndarray, size: tuple[int, int], whole_if_none: bool) -> list[_Box]:
    """The objects in pixels; the whole image when there are none and that is wanted."""
    height, width = size
    if boxes.ndim != 3 or boxes.shape[2] != 4:
        raise InvalidArgumentError(f"{op}: bounding_boxes must be [batch, n, 4], got {list(boxes.shape)}")
    flat = boxes.reshape(-1, 4)
    if np.any(~((flat >= 0) & (flat <= 1))):
        raise InvalidArgumentError(f"{op}: boxes must be from 0 to 1, got {flat.tolist()[:4]}")
    scaled = flat.astype(np.float32) * np.array([height, width] * 2, np.float32)
    found = [_Box(left, top, right, bottom) for top, left, bottom, right in scaled.astype(np.int64).tolist()]
    if not found and not whole_if_none:
        message = "there must be boxes unless use_image_if_no_bounding_boxes"
        raise InvalidArgumentError(f"{op}: {message}, got none")
    return found or [_Box(0, 0, width, height)]


@dataclass(frozen=True)
class _Limits:
    """What crops may be, and how many are tried; InvalidArgumentError for limits that cannot be."""

    op: str
    ratios: list[float]
    areas: list[float]
    max_attempts: int
    whole_if_none: bool

    def checked(self) -> tuple[np.ndarray, np.ndarray]:
        """The ranges of ratios and areas, float32."""
        ratios, areas = np.array(self.ratios, np.float32), np.array(self.areas, np.float32)
        ascend = len(ratios) == len(areas) == 2 and 0 < ratios[0] <= ratios[1]
        if not ascend or not 0 < areas[0] <= areas[1] <= 1 or not 1 <= self.max_attempts <= _MOST_ATTEMPTS:
            message = "ranges must ascend, areas be at most 1 and max_attempts be positive"
            found = f"{self.ratios}, {self.areas} and {self.max_attempts}"
            raise InvalidArgumentError(f"{self.op}: {message}, got {found}")
        return ratios, areas


def _sampled(
    limits: _Limits, words: Iterator[int], image_size: np.ndarray, boxes: np.ndarray, least: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """begin and size for Slice [3], and the crop [1, 1, 4] (y1, x1, y2, x2, from 0 to 1).

    image_size is height, width and channels. The first crop that covers so much of one of the boxes
    is taken, the whole image when none of max_attempts does.
    """
    ratios, areas = limits.checked()
    if image_size.shape != (3,) or min(int(n) for n in image_size[:2]) < 1 or not least >= 0:
        message = "image_size must be 3 positive sizes and min_object_covered 0 or more"
        raise InvalidArgumentError(f"{limits.op}: {message}, got {image_size.tolist()} and {least}")
    size = int(image_size[0]), int(image_size[1])
    objects = _objects(limits.op, boxes, size, limits.whole_if_none)
    chosen = _Box(0, 0, size[1], size[0])
    for _ in range(limits.max_attempts):
        ratio = np.float32(single(words)) * (ratios[1] - ratios[0]) + ratios[0]
        crop = _crop(words, size, (areas[0], areas[1]), ratio)
        if crop is not None and _shows(crop, objects, least):
            chosen = crop
            break
    begin = np.array([chosen.top, chosen.left, 0]).astype(image_size.dtype)
    extent = np.array([chosen.bottom - chosen.top, chosen.right - chosen.left, -1])
    corners = np.array([chosen.top, chosen.left, chosen.bottom, chosen.right], np.float32)
    relative = corners / np.array([*size, *size], np.float32)
    return begin, extent.astype(image_size.dtype), relative.reshape(1, 1, 4)


def stateless_sample_distorted_bounding_box(
    image_size: np.ndarray,
    boxes: np.ndarray,
    min_object_covered: np.ndarray,
    seed: np.ndarray,
    *,
    aspect_ratio_range: list[float],
    area_range: list[float],
    max_attempts: int,
    use_image_if_no_bounding_boxes: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A crop by a seed; see _sampled."""
    op = "StatelessSampleDistortedBoundingBox"
    limits = _Limits(op, aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
    words = PhiloxGenerator(*key_and_counter(seed)).words()
    return _sampled(limits, words, image_size, boxes, _one(op, min_object_covered))


def _one(op: str, covered: np.ndarray) -> float:
    if covered.ndim:
        message = "min_object_covered must be a scalar"
        raise InvalidArgumentError(f"{op}: {message}, got {list(covered.shape)}")
    return float(covered)


class SampleDistortedBoundingBox(RandomKernel):
    """A crop by the kernel's generator; see _sampled. V2 takes min_object_covered as a tensor."""

    def __init__(self, construction: KernelConstruction) -> None:
        super().__init__(construction)
        ratios = construction.get_attr("aspect_ratio_range", list[float])
        areas = construction.get_attr("area_range", list[float])
        attempts = construction.get_attr("max_attempts", int)
        whole = construction.get_attr("use_image_if_no_bounding_boxes", bool)
        self._limits = _Limits(construction.op, ratios, areas, attempts, whole)

    def compute(self, context: KernelContext) -> None:
        if len(context.inputs) == 3:
            least = _one(self._limits.op, context.input(2))
        else:
            least = self.construction.get_attr("min_object_covered", float)
        words = self.reserved(self._limits.max_attempts).words()
        found = _sampled(self._limits, words, context.input(0), context.input(1), least)
        for index, value in enumerate(found):
            context.set_output(index, value)


REGISTRATIONS = (
    kernel(
        "StatelessSampleDistortedBoundingBox",
        stateless_sample_distorted_bounding_box,
        T=INTEGERS,
        Tseed=INDICES,
    ),
    kernel_class("SampleDistortedBoundingBox", SampleDistortedBoundingBox, T=INTEGERS),
    kernel_class("SampleDistortedBoundingBoxV2", SampleDistortedBoundingBox, T=INTEGERS),
)
