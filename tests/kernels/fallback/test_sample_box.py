"""Random crops: as large as asked for, upon an object."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.environment import Environment
from numlite.kernels.fallback.node_runner import NodeRunner
from numlite.kernels.fallback.status import InvalidArgumentError

from .nodes import node, run

SIZE = np.array([40, 50, 3], np.int32)
BOXES = np.array([[[0.25, 0.2, 0.75, 0.8]]], np.float32)
TYPES = {"T": "i32", "Tseed": "i32"}


def sample(seed: int, boxes: np.ndarray = BOXES, covered: float = 0.5, **attributes: str) -> list[np.ndarray]:
    inputs = [SIZE, boxes, np.float32(covered), np.array([seed, 0], np.int32)]
    return run("StatelessSampleDistortedBoundingBox", inputs, **TYPES, **attributes)


@pytest.mark.parametrize("seed", range(8))
def test_crops_are_as_asked_for(seed: int) -> None:
    limits = {"aspect_ratio_range": "list(f32)$0.8,1.25", "area_range": "list(f32)$0.2,0.6"}
    begin, size, box = sample(seed, **limits)
    (top, left, _), (height, width, channels) = begin.tolist(), size.tolist()
    assert channels == -1 and 0.15 <= height * width / 2000 <= 0.65 and 0.75 <= width / height <= 1.35
    relative = [top / 40, left / 50, (top + height) / 40, (left + width) / 50]
    np.testing.assert_allclose(box[0, 0], relative, rtol=1e-6)
    rows, columns = min(top + height, 30) - max(top, 10), min(left + width, 40) - max(left, 10)
    assert rows * columns >= 0.5 * 600


def test_what_cannot_be_is_the_whole_image() -> None:
    begin, size, box = sample(1, covered=1.0, area_range="list(f32)$0.01,0.02")
    assert begin.tolist() == [0, 0, 0] and size.tolist() == [40, 50, -1]
    assert box.tolist() == [[[0, 0, 1, 1]]]


def test_a_crop_is_tensorflows() -> None:
    """Of TensorFlow 2.21 for this seed."""
    limits = {"aspect_ratio_range": "list(f32)$0.75,1.33", "area_range": "list(f32)$0.05,1.0"}
    begin, size, _ = sample(3, np.array([[[0.1, 0.1, 0.8, 0.9]]], np.float32), 0.3, **limits)
    assert (begin.tolist(), size.tolist()) == ([4, 10, 0], [28, 24, -1])


def test_a_generator_goes_on() -> None:
    """A kernel of two seeds gives one crop after another, the same for each environment."""
    made = node("SampleDistortedBoundingBoxV2", T="i32", seed="i64$3", seed2="i64$4")
    crops = []
    for _ in range(2):
        runner = NodeRunner(made)
        crops.append([runner([SIZE, BOXES, np.float32(0.1)], Environment())[2].tolist() for _ in range(3)])
    assert crops[0] == crops[1] and crops[0][0] != crops[0][1]


@pytest.mark.parametrize("boxes", [np.zeros((1, 0, 4)), np.array([[[0.5, 0, 0.25, 1.5]]]), np.ones((2, 4))])
def test_boxes_that_cannot_be_are_refused(boxes: np.ndarray) -> None:
    with pytest.raises(InvalidArgumentError):
        sample(1, boxes.astype(np.float32))
