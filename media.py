"""Images as inputs: decoded, resized and normalized as a model's metadata say. Needs Pillow."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .lite.errors import ModelError, UnsupportedError

if TYPE_CHECKING:
    from .metadata import Normalization

IMAGE_SUFFIXES = frozenset((".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"))
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
    real = (pixels.astype(np.float32) - normalization.mean) / normalization.std
    if dtype.kind == "f":
        return real.astype(dtype)[None]
    scale, zero_point = detail["quantization"]
    if not scale:
        raise UnsupportedError(f"input {detail['name']!r}: {dtype} without a scale takes no picture")
    limits = np.iinfo(dtype)
    return np.clip(np.rint(real / scale) + zero_point, limits.min, limits.max).astype(dtype)[None]


def _decoded(source: bytes | Path, mode: str, height: int, width: int) -> np.ndarray:
    """The pixels, uint8 [height, width, channels]; sizes below 1 are the picture's."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError as error:
        raise UnsupportedError("pictures need Pillow: pip install numlite[images]") from error
    try:
        with Image.open(io.BytesIO(source) if isinstance(source, bytes) else source) as image:
            turned = ImageOps.exif_transpose(image).convert(mode)
            size = (width if width > 0 else turned.width, height if height > 0 else turned.height)
            if turned.size != size:
                turned = turned.resize(size, Image.Resampling.BILINEAR)
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise ModelError(f"not a picture that Pillow reads: {error}") from error
    pixels = np.asarray(turned)
    return pixels.reshape(*pixels.shape[:2], -1)
