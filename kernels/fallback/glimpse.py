"""ExtractGlimpse and ExtractGlimpseV2: one window of each image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .conv import sizes
from .kernel import checked_shape
from .registry import kernel
from .status import InvalidArgumentError

# Offsets beyond this are as good as infinite: no window reaches an image from there.
_FAR = 1 << 30


@dataclass(frozen=True, kw_only=True)
class GlimpseAttributes:
    """How offsets are read, and what is outside of an image; noise overrides uniform_noise unless empty."""

    centered: bool
    normalized: bool
    uniform_noise: bool
    noise: str


def _noise(shape: tuple[int, ...], glimpse: GlimpseAttributes) -> np.ndarray:
    """What is outside of an image."""
    kind = glimpse.noise or ("uniform" if glimpse.uniform_noise else "gaussian")
    if kind == "zero":
        return np.zeros(shape, np.float32)
    random = np.random.default_rng()
    if kind == "uniform":
        return random.random(shape, np.float32)
    if kind == "gaussian":
        return random.standard_normal(shape, np.float32)
    raise InvalidArgumentError(f"ExtractGlimpse: noise must be uniform, gaussian or zero, got {kind!r}")


def _starts(
    offsets: np.ndarray, image: np.ndarray, size: np.ndarray, glimpse: GlimpseAttributes, new: bool
) -> np.ndarray:
    """Where each window begins, [N, 2] rows and columns, cut to whole numbers."""
    places: np.ndarray = offsets.astype(np.float32)
    if glimpse.normalized:
        places = places * image
    if glimpse.centered:
        middle = image / np.float32(2)
        half = not new or glimpse.normalized
        places = (places / np.float32(2) if half else places) + middle
    if not new or (glimpse.centered and glimpse.normalized):
        places = places - size / np.float32(2)
    return np.clip(np.nan_to_num(np.trunc(places), nan=_FAR), -_FAR, _FAR).astype(np.int64)


def _extracted(
    x: np.ndarray, size: np.ndarray, offsets: np.ndarray, glimpse: GlimpseAttributes, new: bool
) -> np.ndarray:
    op = "ExtractGlimpse"
    window = sizes(op, "size", size)
    if x.ndim != 4 or len(window) != 2 or offsets.shape != (len(x), 2):
        message = "input must have 4 dimensions, size 2 elements and offsets be [N, 2]"
        shapes = f"{list(x.shape)}, {list(window)} and {list(offsets.shape)}"
        raise InvalidArgumentError(f"{op}: {message}, got {shapes}")
    shape = checked_shape((len(x), *window, x.shape[3]), x.dtype)
    made = _noise(shape, glimpse)
    whole, spans = np.array(x.shape[1:3], np.float32), np.array(window, np.float32)
    for number, (top, left) in enumerate(_starts(offsets, whole, spans, glimpse, new)):
        seen = x[number, max(top, 0) : max(top + window[0], 0), max(left, 0) : max(left + window[1], 0)]
        down, across = max(-top, 0), max(-left, 0)
        made[number, down : down + seen.shape[0], across : across + seen.shape[1]] = seen
    return made


def extract_glimpse(
    x: np.ndarray, size: np.ndarray, offsets: np.ndarray, *, glimpse: GlimpseAttributes
) -> np.ndarray:
    """[N, height, width, C]: a window of the size around each offset (row, column) of x [N, H, W, C].

    normalized offsets are fractions of the image; centered ones count from its middle, -1 and 1
    being its borders. Outside the image there is noise.
    Source: TensorFlow tensorflow/core/kernels/image/attention_ops.cc.
    """
    return _extracted(x, size, offsets, glimpse, False)


def extract_glimpse_v2(
    x: np.ndarray, size: np.ndarray, offsets: np.ndarray, *, glimpse: GlimpseAttributes
) -> np.ndarray:
    """ExtractGlimpse, but an offset is the window's first pixel unless it is centered and normalized.

    Centered offsets that are not normalized count pixels from the middle.
    """
    return _extracted(x, size, offsets, glimpse, True)


REGISTRATIONS = (
    kernel("ExtractGlimpse", extract_glimpse),
    kernel("ExtractGlimpseV2", extract_glimpse_v2),
)
