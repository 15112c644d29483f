"""RGBToHSV, HSVToRGB, and images adjusted in contrast, hue and saturation."""

from __future__ import annotations

import numpy as np

from ...schema import graph_def
from .axis import element_of
from .binary import larger, smaller
from .dtypes import FLOATS
from .half_precision import widened
from .registry import kernel
from .status import InvalidArgumentError

_FLOAT = frozenset((graph_def.DT_FLOAT,))
_OLD_CONTRAST = frozenset(
    (
        *(graph_def.DT_FLOAT, graph_def.DT_DOUBLE, graph_def.DT_UINT8),
        *(graph_def.DT_INT8, graph_def.DT_INT16, graph_def.DT_INT32),
    )
)

# In each sixth of the circle of hues: the channel that is largest, the one between, and the least.
_ORDERS = np.array([(0, 1, 2), (1, 0, 2), (1, 2, 0), (2, 1, 0), (2, 0, 1), (0, 2, 1)])


def _check_channels(op: str, x: np.ndarray, rank: int) -> None:
    if x.ndim < rank or x.shape[-1] != 3:
        message = f"images must have {rank} dimensions or more, the last of 3 channels"
        raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)}")


def _hue(x: np.ndarray, value: np.ndarray, span: np.ndarray) -> np.ndarray:
    """Hue from 0 to 1 of colours that have one, of the largest of each and what it has above the least."""
    red, green, blue = np.moveaxis(x, -1, 0)
    one, third = x.dtype.type(1), x.dtype.type(1 / 3)
    norm = one / (x.dtype.type(6) * span)
    hue = np.where(
        red == value,
        norm * (green - blue),
        np.where(green == value, norm * (blue - red) + third, norm * (red - green) + third * 2),
    )
    return np.where(hue < 0, hue + one, hue)


def _hsv_of_rgb(x: np.ndarray) -> np.ndarray:
    """Hue, saturation and value, hue and saturation from 0 to 1."""
    red, green, blue = np.moveaxis(x, -1, 0)
    # Of two where one is no number the latter, as Eigen has it.
    value = larger(blue, larger(green, red))
    span = value - smaller(blue, smaller(green, red))
    hue = np.where(span > 0, _hue(x, value, span), 0)
    saturation = np.where(value > 0, span / value, 0)
    return np.stack([hue, saturation, value], axis=-1).astype(x.dtype)


def _pure(hue: np.ndarray) -> np.ndarray:
    """Red, green and blue, from 0 to 1, of a hue at full saturation and value."""
    sixth = hue * hue.dtype.type(6)
    parts = (np.abs(sixth - 3) - 1, 2 - np.abs(sixth - 2), 2 - np.abs(sixth - 4))
    return np.clip(np.stack(parts, axis=-1), 0, 1)


def _rgb_of_hsv(x: np.ndarray) -> np.ndarray:
    hue, saturation, value = np.moveaxis(x, -1, 0)
    grey = (1 - saturation)[..., np.newaxis]
    return ((grey + saturation[..., np.newaxis] * _pure(hue)) * value[..., np.newaxis]).astype(x.dtype)


def rgb_to_hsv(x: np.ndarray) -> np.ndarray:
    """Red, green and blue in the last axis as hue (0 to 1), saturation and value.

    Source: TensorFlow tensorflow/core/kernels/image/colorspace_op.h.
    """
    _check_channels("RGBToHSV", x, 1)
    return _hsv_of_rgb(widened(x)).astype(x.dtype)


def hsv_to_rgb(x: np.ndarray) -> np.ndarray:
    """RGBToHSV undone."""
    _check_channels("HSVToRGB", x, 1)
    return _rgb_of_hsv(widened(x)).astype(x.dtype)


def _sixth(x: np.ndarray) -> np.ndarray:
    """Which sixth of the circle each colour lies in, 0 to 5, by TensorFlow's comparisons: NaN fails each."""
    red, green, blue = np.moveaxis(x, -1, 0)
    rising = np.where(blue < red, 1, np.where(blue > green, 3, 2))
    falling = np.where(blue < green, 0, np.where(blue > red, 4, 5))
    return np.where(red < green, rising, falling)


def _channels(parts: np.ndarray, sixth: np.ndarray) -> np.ndarray:
    """Red, green and blue of colours whose largest, middle and least channel are given."""
    made = np.empty_like(parts)
    np.put_along_axis(made, _ORDERS[sixth], parts, axis=-1)
    return made


def adjust_hue(x: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """RGB images with delta added to their hue, a full circle being 1.

    Source: TensorFlow tensorflow/core/kernels/image/adjust_hue_op.cc, not numbers included.
    """
    _check_channels("AdjustHue", x, 3)
    sixth = _sixth(x)
    largest, middle, least = np.moveaxis(np.take_along_axis(x, _ORDERS[sixth], axis=-1), -1, 0)
    span, six = largest - least, x.dtype.type(6)
    part = (middle - least) / span
    hue = np.where(largest == least, 0, sixth.astype(x.dtype) + np.where(sixth % 2, 1 - part, part))
    hue = np.mod(hue + element_of("AdjustHue", "delta", delta) * six, six)
    # np.mod may round up to the full circle.
    hue = np.where(hue == six, 0, hue)
    place = np.where(np.isnan(hue), 5, np.floor(hue)).astype(np.int64)
    part = hue - place.astype(x.dtype)
    middle = least + np.where(place % 2, 1 - part, part) * span
    return _channels(np.stack([largest, middle, least], axis=-1), place)


def adjust_saturation(x: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """RGB images with their saturation multiplied by scale, at most 1 after.

    Source: TensorFlow tensorflow/core/kernels/image/adjust_saturation_op.cc, not numbers included.
    """
    _check_channels("AdjustSaturation", x, 3)
    red, green, blue = np.moveaxis(x, -1, 0)
    value = larger(red, larger(green, blue))
    span = value - smaller(red, smaller(green, blue))
    hue = np.where(span <= 0, 0, _hue(x, value, span))
    saturation = np.where(value > 0, span / value, 0) * element_of("AdjustSaturation", "scale", scale)
    chroma = value * smaller(1, larger(0, saturation))
    sixths = hue * x.dtype.type(6)
    middle = chroma * (1 - np.abs(np.mod(sixths, 2) - 1))
    # A hue that is no number has no colour.
    parts = np.where(sixths < 6, [chroma, middle, np.zeros_like(chroma)], 0)
    place = np.where(sixths < 6, np.floor(sixths), 0).astype(np.int64)
    return _channels(np.moveaxis(parts, 0, -1), place) + (value - chroma)[..., np.newaxis]


def _away_from_mean(op: str, x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    if x.ndim < 3:
        raise InvalidArgumentError(f"{op}: images must have 3 dimensions or more, got {list(x.shape)}")
    wide = x.astype(np.float32)
    count = np.float32(x.shape[-3] * x.shape[-2])
    mean = wide.sum(axis=(-3, -2), keepdims=True, dtype=np.float64).astype(np.float32) / count
    return np.asarray((wide - mean) * element_of(op, "contrast_factor", factor) + mean)


def adjust_contrast(x: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """Each channel of each image moved away from its mean: (x - mean) factor + mean."""
    return _away_from_mean("AdjustContrastv2", x, factor)


def adjust_contrast_v1(x: np.ndarray, factor: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """AdjustContrastv2 of images of any numbers, between low and high, float32; low wins where they cross."""
    op = "AdjustContrast"
    limits = element_of(op, "min_value", low), element_of(op, "max_value", high)
    return np.maximum(np.minimum(_away_from_mean(op, x, factor), limits[1]), limits[0])


REGISTRATIONS = (
    kernel("RGBToHSV", rgb_to_hsv, T=FLOATS),
    kernel("HSVToRGB", hsv_to_rgb, T=FLOATS),
    kernel("AdjustHue", adjust_hue, T=_FLOAT),
    kernel("AdjustSaturation", adjust_saturation, T=_FLOAT),
    kernel("AdjustContrastv2", adjust_contrast, T=_FLOAT),
    kernel("AdjustContrast", adjust_contrast_v1, T=_OLD_CONTRAST),
)
