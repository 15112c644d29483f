"""Pictures and sound as inputs: sizes, channels, normalization and quantization, and what is refused."""

from __future__ import annotations

import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.media import audio_input, image_input
from numlite.metadata import Normalization

HALF = Normalization(np.float32([127.5]), np.float32([127.5]))


def detail(
    shape: list[int], dtype: type = np.float32, quantization: tuple[float, int] = (0.0, 0)
) -> dict[str, Any]:
    return {"name": "x", "shape_signature": np.array(shape), "dtype": dtype, "quantization": quantization}


def write_wav(path: Path, samples: np.ndarray, width: int = 2, rate: int = 16000) -> Path:
    """samples [n, channels] are from -1 to 1."""
    numbers = np.rint(samples * ((1 << (8 * width - 1)) - 1)).astype("<i4")
    if width == 1:
        data = (numbers + 128).astype(np.uint8).tobytes()
    else:
        data = numbers.reshape(-1, 1).view(np.uint8)[:, :width].tobytes()
    with wave.open(str(path), "wb") as file:
        file.setnchannels(samples.shape[1])
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(data)
    return path


RAMP = np.linspace(-0.9, 0.9, 7)[:, None]


@pytest.mark.parametrize("width", [1, 2, 3, 4])
def test_samples_of_all_widths(tmp_path: Path, width: int) -> None:
    path = write_wav(tmp_path / "a.wav", RAMP, width)
    found = audio_input(path, detail([1, 7]), None)
    assert found.shape == (1, 7) and found.dtype == np.float32
    np.testing.assert_allclose(found[0], RAMP[:, 0], atol=2 / (1 << (8 * width - 1)) + 1e-6)  # one step


def test_channels_lengths_and_shapes(tmp_path: Path) -> None:
    both = np.concatenate([RAMP, -RAMP / 2], axis=1)
    path = write_wav(tmp_path / "a.wav", both)
    assert audio_input(path, detail([1, -1, 2]), None).shape == (1, 7, 2)
    found = audio_input(path, detail([10]), None)
    np.testing.assert_allclose(found[:7], RAMP[:, 0] / 4, atol=1e-4)
    assert found.shape == (10,) and not found[7:].any()
    with pytest.raises(UnsupportedError, match="takes 5 samples, got 7"):
        audio_input(path, detail([1, 5]), None)
    with pytest.raises(UnsupportedError, match="must have 3 channels, got 2"):
        audio_input(path, detail([1, 7, 3]), None)
    with pytest.raises(UnsupportedError, match="sound needs"):
        audio_input(path, detail([1, 7, 7, 1]), None)


def test_rate_normalization_and_quantization(tmp_path: Path) -> None:
    path = write_wav(tmp_path / "a.wav", RAMP)
    with pytest.raises(UnsupportedError, match="must be of 44100 Hz, got 16000"):
        audio_input(path, detail([1, 7]), None, 44100)
    half = Normalization(np.float32([0.5]), np.float32([2]))
    np.testing.assert_allclose(
        audio_input(path, detail([1, 7]), half, 16000)[0], (RAMP[:, 0] - 0.5) / 2, atol=1e-4
    )
    found = audio_input(path, detail([1, 7], np.int8, (0.01, 3)), None)
    np.testing.assert_array_equal(found[0], np.rint(np.linspace(-90, 90, 7)) + 3)
    assert audio_input(path, detail([1, 7], np.int16), None)[0, 0] == round(-0.9 * 32767)


def test_what_is_no_sound(tmp_path: Path) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(b"RIFF....nothing")
    with pytest.raises(ModelError, match="not a WAV file"):
        audio_input(path, detail([1, 7]), None)
    with pytest.raises(ModelError, match="not a WAV file"):
        audio_input(tmp_path / "none.wav", detail([1, 7]), None)


def picture(folder: Path, pixels: np.ndarray, name: str = "a.png") -> Path:
    image = pytest.importorskip("PIL.Image")
    image.fromarray(pixels).save(folder / name)
    return folder / name


PIXELS = np.random.default_rng(3).integers(0, 256, (4, 6, 3), np.uint8)


def test_pictures_of_the_inputs_size(tmp_path: Path) -> None:
    path = picture(tmp_path, PIXELS)
    np.testing.assert_array_equal(image_input(path, detail([1, 4, 6, 3], np.uint8), None)[0], PIXELS)
    np.testing.assert_array_equal(
        image_input(path.read_bytes(), detail([-1, -1, -1, 3], np.uint8), None)[0], PIXELS
    )
    found = image_input(path, detail([1, 4, 6, 3]), HALF)
    np.testing.assert_allclose(found[0], PIXELS / 127.5 - 1, atol=1e-6)
    middle = Normalization(np.float32([128]), np.float32([128]))
    found = image_input(path, detail([1, 4, 6, 3], np.int8, (1 / 128, 0)), middle)
    np.testing.assert_array_equal(found[0], PIXELS.astype(int) - 128)


def test_pictures_are_resized_turned_and_get_the_channels(tmp_path: Path) -> None:
    plain = picture(tmp_path, np.full((9, 5), 77, np.uint8))
    assert (image_input(plain, detail([1, 3, 3, 3], np.uint8), None) == 77).all()
    assert image_input(plain, detail([1, 3, 2, 1], np.uint8), None).shape == (1, 3, 2, 1)
    image = pytest.importorskip("PIL.Image")
    exif = image.Exif()
    exif[0x0112] = 6  # lies on its side
    image.fromarray(PIXELS).save(tmp_path / "turned.png", exif=exif)
    found = image_input(tmp_path / "turned.png", detail([1, -1, -1, 3], np.uint8), None)
    np.testing.assert_array_equal(found[0], np.rot90(PIXELS, -1))


def test_what_takes_no_picture(tmp_path: Path) -> None:
    path = picture(tmp_path, PIXELS)
    with pytest.raises(UnsupportedError, match="metadata must say"):
        image_input(path, detail([1, 4, 6, 3]), None)
    with pytest.raises(UnsupportedError, match="a picture needs"):
        image_input(path, detail([1, 4, 6, 7]), HALF)
    with pytest.raises(UnsupportedError, match="without a scale"):
        image_input(path, detail([1, 4, 6, 3], np.int8), HALF)
    path.write_bytes(b"nothing")
    with pytest.raises(ModelError, match="not a picture"):
        image_input(path, detail([1, 4, 6, 3], np.uint8), None)


def test_without_pillow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(UnsupportedError, match=r"pip install numlite\[images\]"):
        image_input(tmp_path / "a.png", detail([1, 4, 6, 3], np.uint8), None)


@pytest.mark.parametrize("told", ["exif", "xmp", "nothing"])
def test_jpeg_files_say_in_two_ways_how_they_are_turned(told: str, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    exif = image.Exif()
    exif[0x0112] = 6  # lies on its side
    given = {"exif": {"exif": exif}, "xmp": {"xmp": b'<x tiff:Orientation="6"/>'}, "nothing": {}}[told]
    lying = image.new("RGB", (40, 24), "red")
    lying.save(tmp_path / "lying.jpg", **given)
    found = image_input(tmp_path / "lying.jpg", detail([1, -1, -1, 3], np.uint8), None)
    assert found.shape == ((1, 24, 40, 3) if told == "nothing" else (1, 40, 24, 3))
