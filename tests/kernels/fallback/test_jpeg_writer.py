"""JPEG files written, and read again."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.kernels.fallback.status import InvalidArgumentError
from numlite.lite.errors import UnsupportedError

from .nodes import run

RANDOM = np.random.default_rng(22)
ROWS, COLUMNS = np.mgrid[:19, :21]
SMOOTH = np.stack([ROWS * 12, COLUMNS * 11, 255 - ROWS * 6 - COLUMNS * 5], axis=2).astype(np.uint8)


def again(image: np.ndarray, **attributes: str) -> np.ndarray:
    files = run("EncodeJpeg", [image], **attributes)
    return run("DecodeJpeg", files, dct_method="string$INTEGER_ACCURATE")[0]


@pytest.mark.parametrize("halved", ["true", "false"])
def test_smooth_images_come_back(halved: str) -> None:
    image = again(SMOOTH, quality="i64$100", chroma_downsampling=f"bool${halved}")
    np.testing.assert_allclose(image.astype(int), SMOOTH.astype(int), atol=16 if halved == "true" else 3)
    grey = SMOOTH[:, :, :1]
    np.testing.assert_allclose(again(grey, quality="i64$100").astype(int), grey.astype(int), atol=2)


def test_any_image_has_codes() -> None:
    """Noise at the finest has the most symbols, one colour at the coarsest the fewest."""
    noise = RANDOM.integers(0, 256, (40, 40, 3)).astype(np.uint8)
    fine = again(noise, quality="i64$100", chroma_downsampling="bool$false")
    np.testing.assert_allclose(fine.astype(int), noise.astype(int), atol=4)
    flat = np.full((1, 1, 3), 128, np.uint8)
    np.testing.assert_array_equal(again(flat, quality="i64$1"), flat)


def test_one_colour_takes_two_bits_a_block() -> None:
    flat = np.full((800, 800, 1), 77, np.uint8)
    (data,) = run("EncodeJpeg", [flat])
    assert len(data.item()) < 10000 // 4 + 400
    np.testing.assert_array_equal(again(flat), flat)


def test_less_quality_is_less_bytes() -> None:
    sizes = [
        len(run("EncodeJpegVariableQuality", [SMOOTH, np.int32(quality)])[0].item())
        for quality in (5, 50, 95)
    ]
    assert sizes == sorted(sizes)


def test_what_cannot_be_written_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="1 or 3"):
        run("EncodeJpeg", [np.zeros((2, 2, 4), np.uint8)])
    with pytest.raises(InvalidArgumentError, match="quality"):
        run("EncodeJpegVariableQuality", [SMOOTH, np.int32(101)])
    with pytest.raises(InvalidArgumentError, match="grayscale"):
        run("EncodeJpeg", [SMOOTH], format="string$grayscale")
    with pytest.raises(UnsupportedError, match="progressive"):
        run("EncodeJpeg", [SMOOTH], progressive="bool$true")


def test_colours_below_the_image_are_its_last_means() -> None:
    """Of two rows that differ only in colour: both have the mean of it, as TensorFlow writes them."""
    image = np.zeros((2, 16, 3), np.uint8)
    image[0], image[1] = (200, 80, 80), (80, 140, 140)
    rows = again(image, quality="i64$100", chroma_downsampling="bool$true").astype(int)
    np.testing.assert_allclose(rows[0, :, 0] - rows[0, :, 1], rows[1, :, 0] - rows[1, :, 1], atol=2)
