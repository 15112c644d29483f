"""Images resized, against interpolations that are easily written."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError, OpError

from .nodes import run

RANDOM = np.random.default_rng(5)


def modes(align_corners: bool, half_pixel_centers: bool) -> dict[str, str]:
    names = {"align_corners": align_corners, "half_pixel_centers": half_pixel_centers}
    return {name: f"bool${str(value).lower()}" for name, value in names.items()}


@pytest.mark.parametrize(("align", "half"), [(False, False), (True, False), (False, True)])
def test_bilinear_is_interpolation_by_rows_and_columns(align: bool, half: bool) -> None:
    x = RANDOM.normal(size=(1, 4, 5, 2)).astype(np.float32)
    wanted = (7, 9)
    (y,) = run("ResizeBilinear", [x, np.array(wanted, np.int32)], T="f32", **modes(align, half))
    places = []
    for size, out in zip((4, 5), wanted, strict=True):
        scale = (size - 1) / (out - 1) if align else size / out
        shift = 0.5 if half else 0
        places.append(np.clip((np.arange(out) + shift) * scale - shift, 0, size - 1))
    for channel in range(2):
        rows = np.stack([np.interp(places[1], np.arange(5), row) for row in x[0, :, :, channel]])
        both = np.stack([np.interp(places[0], np.arange(4), column) for column in rows.T]).T
        np.testing.assert_allclose(y[0, :, :, channel], both, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor"])
def test_gradients_are_the_adjoints(op: str) -> None:
    x = RANDOM.normal(size=(2, 4, 5, 2)).astype(np.float32)
    (y,) = run(op, [x, np.array([6, 3], np.int32)], T="f32", **modes(False, True))
    dy = RANDOM.normal(size=y.shape).astype(np.float32)
    of = np.array([4, 5], np.int32) if op == "ResizeNearestNeighbor" else x
    (dx,) = run(f"{op}Grad", [dy, of], T="f32", **modes(False, True))
    np.testing.assert_allclose(np.sum(dx * x), np.sum(dy * y), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("op", ["ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor", "ResizeArea"])
def test_the_same_size_is_the_same_image(op: str) -> None:
    x = RANDOM.integers(0, 255, (1, 3, 4, 1)).astype(np.uint8)
    half = {} if op == "ResizeArea" else modes(False, True)
    np.testing.assert_allclose(run(op, [x, np.array([3, 4], np.int32)], T="u8", **half)[0], x, rtol=1e-5)


def test_area_means_what_it_covers() -> None:
    x = RANDOM.normal(size=(1, 6, 6, 1)).astype(np.float32)
    (y,) = run("ResizeArea", [x, np.array([3, 2], np.int32)], T="f32")
    wanted = x.reshape(1, 3, 2, 2, 3, 1).mean(axis=(2, 4))
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_what_is_infinite_is_in_no_area_beside_it(value: float) -> None:
    """Areas of four, of six pixels, cover two or three of them."""
    x = np.float32([1, 2, 3, value, 5, 6]).reshape(1, 1, 6, 1)
    (y,) = run("ResizeArea", [x, np.array([1, 4], np.int32)], T="f32")
    np.testing.assert_allclose(y.reshape(-1), [4 / 3, 8 / 3, value, 17 / 3], rtol=1e-6)
    (y,) = run("ResizeArea", [x, np.array([1, 9], np.int32)], T="f32")
    assert np.isfinite(y.reshape(-1)).tolist() == [True, True, True, True, False, False, True, True, True]


def test_scale_and_translate_moves_by_pixels() -> None:
    x = RANDOM.normal(size=(1, 4, 4, 1)).astype(np.float32)
    inputs = [x, np.array([4, 4], np.int32), np.ones(2, np.float32), np.array([1, -2], np.float32)]
    (y,) = run("ScaleAndTranslate", inputs, T="f32", kernel_type="string$triangle")
    np.testing.assert_allclose(y[0, 1:, :2], x[0, :3, 2:], rtol=1e-5)
    assert not y[0, 0].any() and not y[0, :, 2:].any()


@pytest.mark.parametrize("size", [[0, 3], [-1, 3], [3], [1 << 30, 1 << 30]])
def test_sizes_that_cannot_be_are_refused(size: list[int]) -> None:
    with pytest.raises(OpError):
        run("ResizeBilinear", [np.zeros((1, 2, 2, 1), np.float32), np.array(size, np.int32)], T="f32")


def test_scale_of_zero_is_refused() -> None:
    inputs = [np.zeros((1, 2, 2, 1), np.float32), np.array([2, 2], np.int32)]
    with pytest.raises(InvalidArgumentError, match="positive"):
        run("ScaleAndTranslate", [*inputs, np.zeros(2, np.float32), np.zeros(2, np.float32)], T="f32")


@pytest.mark.parametrize("shape", [(1, 0, 4, 2), (1, 3, 0, 2)])
def test_nothing_gives_no_gradient(shape: tuple[int, ...]) -> None:
    """TensorFlow takes outputs of no pixels; sizes of an image are positive."""
    dy = np.zeros(shape, np.float32)
    modes_of = {"T": "f32", **modes(False, False)}
    (dx,) = run("ResizeNearestNeighborGrad", [dy, np.array([4, 3], np.int32)], **modes_of)
    np.testing.assert_array_equal(dx, np.zeros((1, 4, 3, 2), np.float32))
    with pytest.raises(InvalidArgumentError):
        run("ResizeNearestNeighborGrad", [dy, np.array([0, 3], np.int32)], **modes_of)


@pytest.mark.parametrize("op", ["ResizeBilinearGrad", "ResizeBicubicGrad"])
def test_products_of_gradients_are_float32(op: str) -> None:
    """As in TensorFlow: float64 gradients are float32 where no input has two outputs."""
    dy = np.float32([0.1, 0.7, 0.3]).reshape(1, 1, 3, 1)
    (dx,) = run(op, [dy, np.zeros((1, 1, 19, 1))], T="f64", **modes(False, False))
    assert np.count_nonzero(dx) > 2
    np.testing.assert_array_equal(dx, dx.astype(np.float32))


@pytest.mark.parametrize("name", ["lanczos3", "triangle", "keyscubic", "box"])
@pytest.mark.parametrize("move", [np.nan, np.inf, -np.inf])
def test_images_that_are_moved_to_no_place_are_gone(name: str, move: float) -> None:
    image = np.arange(1, 13, dtype=np.float32).reshape(1, 3, 4, 1)
    places, modes_of = [np.ones(2, np.float32), np.float32([0, move])], {"kernel_type": f"string${name}"}
    (y,) = run("ScaleAndTranslate", [image, np.int32([2, 2]), *places], T="f32", **modes_of)
    (dx,) = run("ScaleAndTranslateGrad", [image, image, *places], T="f32", **modes_of)
    assert y.shape == (1, 2, 2, 1) and not y.any() and dx.shape == image.shape and not dx.any()


def test_an_image_of_endless_scale_is_its_corner() -> None:
    image = np.arange(1, 13, dtype=np.float32).reshape(1, 3, 4, 1)
    places = [np.float32([np.inf, 1]), np.zeros(2, np.float32)]
    (y,) = run(
        "ScaleAndTranslate", [image, np.int32([2, 2]), *places], T="f32", kernel_type="string$triangle"
    )
    np.testing.assert_array_equal(y[0, :, :, 0], [[1, 2], [1, 2]])


def test_between_infinities_there_is_no_number() -> None:
    image = np.float32([[1, np.inf], [3, np.inf]]).reshape(1, 2, 2, 1)
    (y,) = run("ResizeBilinear", [image, np.int32([3, 4])], T="f32", **modes(False, False))
    wanted = np.full((3, 4), np.nan)
    wanted[:, 0] = [1, 7 / 3, 3]
    np.testing.assert_allclose(y[0, :, :, 0], wanted, rtol=1e-6)
    (same,) = run("ResizeBilinear", [image, np.int32([2, 2])], T="f32", **modes(False, False))
    np.testing.assert_array_equal(same, image)


_N = np.nan


@pytest.mark.parametrize(
    ("place", "wanted"),
    [
        ((0, 0), [_N, 0.41666657, _N, 1.6666663, 30.083334, 2.916666]),
        ((4, 1), [3.5833335, 0.41666657, 16.333334, 1.6666663, _N, _N]),
    ],
)
def test_what_an_image_is_not_made_of_does_not_count_in_its_gradient(
    place: tuple[int, int], wanted: list[float]
) -> None:
    """A gradient that is no number reaches the pixels whose span holds it; TensorFlow 2.21's values."""
    image, gradient = np.zeros((1, 3, 2, 1), np.float32), np.arange(1, 11, dtype=np.float32)
    gradient = gradient.reshape(1, 5, 2, 1)
    gradient[0, *place] = np.nan
    places = [np.float32([2, 1.5]), np.float32([-1, 0.5])]
    modes_of = {"kernel_type": "string$triangle", "antialias": "bool$true"}
    (dx,) = run("ScaleAndTranslateGrad", [gradient, image, *places], T="f32", **modes_of)
    np.testing.assert_allclose(dx.ravel(), wanted, rtol=1e-6)
