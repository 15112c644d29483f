"""Boxes cut from images, patches, glimpses and projections of them."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError, OutOfRangeError

from .nodes import run

RANDOM = np.random.default_rng(9)
IMAGES = RANDOM.normal(size=(2, 4, 5, 3)).astype(np.float32)


def crop(boxes: object, index: list[int], size: list[int], method: str = "bilinear") -> np.ndarray:
    inputs = [np.array(boxes, np.float32), np.array(index, np.int32), np.array(size, np.int32)]
    options = {"method": f"string${method}", "extrapolation_value": "f32$9"}
    return run("CropAndResize", [IMAGES, *inputs], T="f32", **options)[0]


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_the_whole_box_is_the_image(method: str) -> None:
    np.testing.assert_allclose(crop([[0, 0, 1, 1]], [1], [4, 5], method)[0], IMAGES[1], atol=1e-6)


def test_outside_is_extrapolated_and_one_pixel_is_the_middle() -> None:
    assert (crop([[2, 2, 3, 3]], [0], [2, 2]) == 9).all()
    middle = IMAGES[0, 1:3, 2].mean(axis=0)
    np.testing.assert_allclose(crop([[0, 0, 1, 1]], [0], [1, 1])[0, 0, 0], middle, atol=1e-6)


def test_the_nearest_pixel_is_not_that_beyond_a_half() -> None:
    """The third place is 0.49999997, to which a half makes 1."""
    image, box = np.float32([[3, 7]]).reshape(1, 1, 2, 1), np.float32([[0, 0.1, 0, 0.7]])
    inputs = [image, box, np.zeros(1, np.int32), np.array([1, 4], np.int32)]
    (y,) = run("CropAndResize", inputs, T="f32", method="string$nearest", extrapolation_value="f32$0")
    assert y.ravel().tolist() == [3, 3, 3, 7]


def test_no_boxes_may_have_any_shape() -> None:
    none = np.zeros((0, 0), np.float32), np.zeros((0, 3), np.int32)
    y = run("CropAndResize", [IMAGES, *none, np.array([2, 3], np.int32)], T="f32")[0]
    assert y.shape == (0, 2, 3, 3)
    dy = np.zeros((0, 2, 3, 3), np.float32)
    assert run("CropAndResizeGradBoxes", [dy, IMAGES, *none], T="f32")[0].shape == (0, 4)


def test_places_of_a_boxes_gradient_are_those_of_a_ratio() -> None:
    """As in TensorFlow, where the last row is at -7e-9, outside of the image; CropAndResize has it inside."""
    image, box, first = np.float32([[[[0]], [[1]]]]), np.float32([[0.1, 0, 0, 0]]), np.zeros(1, np.int32)
    last = np.float32([0, 0, 0, 0, 0, 1]).reshape(1, 6, 1, 1)
    (slopes,) = run("CropAndResizeGradBoxes", [last, image, box, first], T="f32")
    assert slopes.tolist() == [[0, 0, 0, 0]]
    options = {"method": "string$nearest", "extrapolation_value": "f32$9"}
    (y,) = run("CropAndResize", [image, box, first, np.array([6, 1], np.int32)], T="f32", **options)
    assert y[0, -1] == 0


def test_boxes_gradient_is_the_slope() -> None:
    boxes = np.array([[0.11, 0.13, 0.83, 0.79]], np.float32)
    index, size = np.zeros(1, np.int32), np.array([2, 3], np.int32)
    dy = RANDOM.normal(size=(1, 2, 3, 3)).astype(np.float32)
    (slopes,) = run("CropAndResizeGradBoxes", [dy, IMAGES, boxes, index], T="f32")
    for side in range(4):
        step = np.zeros(4, np.float32)
        step[side] = 1e-3
        up, down = (run("CropAndResize", [IMAGES, boxes + s, index, size], T="f32")[0] for s in (step, -step))
        np.testing.assert_allclose(slopes[0, side], np.sum((up - down) * dy) / 2e-3, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("index", [-1, 2])
def test_boxes_of_no_image_are_refused(index: int) -> None:
    with pytest.raises(OutOfRangeError, match="box_index"):
        crop([[0, 0, 1, 1]], [index], [1, 1])


def test_patches_are_windows() -> None:
    one = "list(i64)$1,1,1,1"
    sizes = {"ksizes": "list(i64)$1,2,3,1", "strides": "list(i64)$1,2,1,1", "rates": one}
    (y,) = run("ExtractImagePatches", [IMAGES], T="f32", padding="string$VALID", **sizes)
    assert y.shape == (2, 2, 3, 18)
    np.testing.assert_array_equal(y[1, 1, 2], IMAGES[1, 2:4, 2:5].reshape(-1))


def test_a_glimpse_of_the_middle() -> None:
    inputs = [IMAGES[:, :, :4], np.array([2, 2], np.int32), np.zeros((2, 2), np.float32)]
    (y,) = run("ExtractGlimpse", inputs, noise="string$zero")
    np.testing.assert_array_equal(y, IMAGES[:, 1:3, 1:3])


@pytest.mark.parametrize(
    ("mode", "border"), [("CONSTANT", 0.0), ("NEAREST", "first"), ("WRAP", "last"), ("REFLECT", "first")]
)
def test_a_shift_fills_as_the_mode_says(mode: str, border: object) -> None:
    shift = np.array([[1, 0, -1, 0, 1, 0, 0, 0]], np.float32)
    options = {"interpolation": "string$NEAREST", "fill_mode": f"string${mode}"}
    inputs = [IMAGES, shift, np.array([4, 5], np.int32)]
    (y,) = run("ImageProjectiveTransformV2", inputs, dtype="f32", **options)
    np.testing.assert_array_equal(y[:, :, 1:], IMAGES[:, :, :-1])
    wanted = {"first": IMAGES[:, :, 0], "last": IMAGES[:, :, -1]}.get(str(border), np.zeros((2, 4, 3)))
    np.testing.assert_array_equal(y[:, :, 0], wanted)


def test_transforms_of_another_shape_are_refused() -> None:
    inputs = [IMAGES, np.zeros((3, 8), np.float32), np.array([4, 5], np.int32)]
    with pytest.raises(InvalidArgumentError, match="transforms"):
        run("ImageProjectiveTransformV2", inputs, dtype="f32", interpolation="string$NEAREST")


@pytest.mark.parametrize("shape", [(1, 0, 5, 2), (1, 5, 0, 2)])
def test_projections_of_nothing_are_the_fill_value(shape: tuple[int, ...]) -> None:
    inputs = [np.zeros(shape, np.float32), np.eye(1, 8, dtype=np.float32), np.int32([2, 3]), np.float32(7)]
    options = {"interpolation": "string$NEAREST", "fill_mode": "string$REFLECT"}
    (y,) = run("ImageProjectiveTransformV3", inputs, dtype="f32", **options)
    assert y.shape == (1, 2, 3, 2) and (y == 7).all()
