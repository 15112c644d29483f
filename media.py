"""Pictures and sound as inputs: decoded, resized and normalized as a model's metadata say."""

from __future__ import annotations

import io
import wave
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .lite.errors import ModelError, UnsupportedError

if TYPE_CHECKING:
    from .metadata import Normalization

IMAGE_SUFFIXES = frozenset((".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"))
AUDIO_SUFFIXES = frozenset((".wav", ".wave"))
_TURNING = frozenset(("exif", "xmp", "XML:com.adobe.xmp"))  # where a JPEG file says how it is turned
_MODES = {1: "L", 3: "RGB", 4: "RGBA"}


def image_input(
    source: bytes | Path, detail: Mapping[str, Any], normalization: Normalization | None
) -> np.ndarray:
    """The picture as an input's value: [1, height, width, channels] of its type.

    detail is the input's of get_input_details; sizes that it leaves open are the picture's own. The picture
    is turned as its EXIF says, gets the channels that the input has, and is resized bilinearly (with a filter
    that takes all pixels into account). uint8 inputs take its bytes as they are. Others take
    (byte - mean) / std, quantized as the input is.
    Raises ValueError for what is no picture, UnsupportedError where the input takes none, where normalization
    is needed and there is none, and where Pillow is missing.
    """
    shape = [int(n) for n in detail["shape_signature"]]
    if len(shape) != 4 or shape[3] not in _MODES:
        raise UnsupportedError(
            f"input {detail['name']!r}: a picture needs a shape of [1, height, width, 1, 3 or 4], got {shape}"
        )
    pixels = _decoded(source, _MODES[shape[3]], shape[1], shape[2])
    dtype = np.dtype(detail["dtype"])
    if dtype == np.uint8:
        return pixels[None]
    if normalization is None:
        raise UnsupportedError(
            f"input {detail['name']!r} is {dtype}: the model's metadata must say what pixels are there; "
            "`numlite metadata --set-normalization` writes it"
        )
    real = pixels.astype(np.float32)
    np.subtract(real, normalization.mean, out=real)
    np.divide(real, normalization.std, out=real)
    return _as_input(real, detail)[None]


def _as_input(real: np.ndarray, detail: Mapping[str, Any]) -> np.ndarray:
    """Real numbers in the input's type, quantized as it is."""
    dtype = np.dtype(detail["dtype"])
    if dtype.kind == "f":
        return real.astype(dtype, copy=False)
    scale, zero_point = detail["quantization"]
    if dtype.kind not in "iu" or not scale:
        raise UnsupportedError(f"input {detail['name']!r}: {dtype} without a scale takes no such file")
    limits = np.iinfo(dtype)
    found: np.ndarray = np.clip(np.rint(real / scale) + zero_point, limits.min, limits.max).astype(dtype)
    return found


def _decoded(source: bytes | Path, mode: str, height: int, width: int) -> np.ndarray:
    """The pixels, uint8 [height, width, channels]; sizes below 1 are the picture's."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError as error:
        raise UnsupportedError("pictures need Pillow: pip install numlite[images]") from error
    try:
        with Image.open(io.BytesIO(source) if isinstance(source, bytes) else source) as image:
            if image.format != "JPEG" or not _TURNING.isdisjoint(
                image.info
            ):  # looking takes a tenth of decoding
                ImageOps.exif_transpose(image, in_place=True)
            turned = image if image.mode == mode else image.convert(mode)
            size = (width if width > 0 else turned.width, height if height > 0 else turned.height)
            if turned.size != size:
                turned = turned.resize(size, Image.Resampling.BILINEAR)
            pixels = np.asarray(turned)
    except UnidentifiedImageError as error:  # its text has an address, which differs from run to run
        raise ModelError("not a picture that Pillow reads: of no format that it knows") from error
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise ModelError(f"not a picture that Pillow reads: {error}") from error
    return pixels.reshape(*pixels.shape[:2], -1)


def audio_input(
    source: Path, detail: Mapping[str, Any], normalization: Normalization | None, rate: int = 0
) -> np.ndarray:
    """The sound of a WAV file (PCM) as an input's value: [1, samples] or [samples], or with channels last.

    rate is the metadata's, in Hz, 0 for none. Samples are from -1 to 1, then (x - mean) / std where there is
    a normalization, and quantized as the input is; int16 inputs without a scale take 16-bit samples as they
    are. The mean of the channels serves an input that has one. A sound that is shorter than the input ends
    with silence.
    Raises ValueError for what is no such file, UnsupportedError where the input takes no sound, or one of
    another rate, of other channels or shorter.
    """
    samples, width, found_rate = _samples(source)
    where = f"input {detail['name']!r}"
    if rate and found_rate != rate:
        raise UnsupportedError(f"{where}: sound must be of {rate} Hz, got {found_rate}: resample the file")
    shape = [int(n) for n in detail["shape_signature"]]
    inner = shape[1:] if len(shape) > 1 and shape[0] in (1, -1) else shape
    if len(inner) not in (1, 2) or (len(inner) == 2 and not 1 <= inner[1] <= 16):
        raise UnsupportedError(
            f"{where}: sound needs a shape of [1, samples] or [1, samples, channels], got {shape}"
        )
    channels = inner[1] if len(inner) == 2 else 1
    if channels == 1:
        samples = samples.mean(axis=1, keepdims=True)
    if samples.shape[1] != channels:
        raise UnsupportedError(f"{where}: must have {channels} channels, got {samples.shape[1]}")
    if inner[0] > 0:
        if len(samples) > inner[0]:
            raise UnsupportedError(f"{where}: takes {inner[0]} samples, got {len(samples)}: cut the file")
        samples = np.concatenate([samples, np.zeros((inner[0] - len(samples), channels))])
    if np.dtype(detail["dtype"]) == np.int16 and not detail["quantization"][0]:
        limit = 1 << (8 * width - 1)
        value = np.rint(samples * limit).clip(-limit, limit - 1).astype(np.int16) if width == 2 else None
        if value is None:
            raise UnsupportedError(f"{where}: must be samples of 16 bits, got {8 * width}")
    else:
        normalized = samples if normalization is None else (samples - normalization.mean) / normalization.std
        value = _as_input(normalized, detail)
    value = value if len(inner) == 2 else value[:, 0]
    return value if inner is shape else value[None]


def _samples(source: Path) -> tuple[np.ndarray, int, int]:
    """Samples from -1 to 1, float64 [n, channels]; the bytes of each in the file; their rate in Hz."""
    try:
        with wave.open(str(source), "rb") as file:
            width, rate, channels = file.getsampwidth(), file.getframerate(), file.getnchannels()
            data = np.frombuffer(file.readframes(file.getnframes()), np.uint8)
    except (wave.Error, EOFError, OSError) as error:
        raise ModelError(f"{source}: not a WAV file of plain samples: {error}") from error
    data = data[: len(data) // (width * channels) * width * channels].reshape(-1, width)
    if width == 1:
        numbers = data[:, 0].astype(np.int64) - 128  # alone without a sign
    else:
        padded = np.zeros((len(data), 4), np.uint8)
        padded[:, 4 - width :] = data
        numbers = padded.view("<i4")[:, 0].astype(np.int64) >> 8 * (4 - width)
    return numbers.reshape(-1, channels) / (1 << (8 * width - 1)), width, rate
