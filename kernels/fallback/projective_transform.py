"""ImageProjectiveTransformV2 and V3."""

from __future__ import annotations

import numpy as np

from ...schema import graph_def
from ..requantize import round_half_away
from .dtypes import FLOATS
from .registry import kernel
from .resize import wanted_size
from .status import InvalidArgumentError

_TYPES = FLOATS | {graph_def.DT_UINT8, graph_def.DT_INT32, graph_def.DT_INT64}


def _reflected(place: np.ndarray, size: int) -> np.ndarray:
    """[abcd] goes on as [dcba|abcd|dcba]."""
    twice = np.float32(2 * size)
    below = twice * np.trunc(-place / twice) + place
    below = np.where(below < -size, below + twice, -below - 1)
    above = place - twice * np.trunc(place / twice)
    above = np.where(above >= size, twice - above - 1, above)
    return np.clip(np.where(place < 0, below, np.where(place > size - 1, above, place)), 0, size - 1)


def _wrapped(place: np.ndarray, size: int) -> np.ndarray:
    """[abcd] goes on as [abcd|abcd|abcd]."""
    gaps = np.float32(size - 1)
    below = place + size * (np.trunc(-place / gaps) + 1)
    above = place - size * np.trunc(place / gaps)
    return np.clip(np.where(place < 0, below, np.where(place > size - 1, above, place)), 0, size - 1)


def _mapped(place: np.ndarray, size: int, fill_mode: str) -> np.ndarray:
    """Places outside the image brought into it, as the mode says."""
    if fill_mode == "CONSTANT":
        return place
    if fill_mode == "NEAREST":
        return np.clip(place, 0, size - 1)
    if size <= 1:
        return np.where(np.isnan(place), place, np.float32(0))
    return _reflected(place, size) if fill_mode == "REFLECT" else _wrapped(place, size)


def _read(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, fill: np.generic) -> np.ndarray:
    """[N, H, W, C] at the places [N, H, W], whole numbers; fill outside the image."""
    inside = (rows >= 0) & (rows < x.shape[1]) & (columns >= 0) & (columns < x.shape[2])
    y = np.where(inside, rows, 0).astype(np.int64)
    found = x[np.arange(len(x))[:, None, None], y, np.where(inside, columns, 0).astype(np.int64)]
    return np.where(inside[..., np.newaxis], found, fill)


def _transformed(
    x: np.ndarray, transforms: np.ndarray, size: np.ndarray, fill: np.float32, interpolation: str, mode: str
) -> np.ndarray:
    """Source: TensorFlow tensorflow/core/kernels/image/image_ops.h, ProjectiveGenerator."""
    op = "ImageProjectiveTransform"
    height, width = wanted_size(op, x, size, least=0)
    if transforms.ndim != 2 or transforms.shape[1] != 8 or len(transforms) not in (1, len(x)):
        message = f"transforms must be [1 or {len(x)}, 8]"
        raise InvalidArgumentError(f"{op}: {message}, got {list(transforms.shape)}")
    if not x.size:
        return np.full((len(x), height, width, x.shape[3]), fill.astype(x.dtype))
    t = transforms[:, :, np.newaxis, np.newaxis]
    across, down = np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32)[:, np.newaxis]
    divisor = t[:, 6] * across + t[:, 7] * down + np.float32(1)
    columns = _mapped((t[:, 0] * across + t[:, 1] * down + t[:, 2]) / divisor, x.shape[2], mode)
    rows = _mapped((t[:, 3] * across + t[:, 4] * down + t[:, 5]) / divisor, x.shape[1], mode)
    shape = (len(x), height, width)
    rows, columns = np.broadcast_to(rows, shape), np.broadcast_to(columns, shape)
    if interpolation == "NEAREST":
        found = _read(x, round_half_away(rows), round_half_away(columns), fill.astype(x.dtype))
    else:
        found = _between(x.astype(np.float32), rows, columns, fill.astype(x.dtype).astype(np.float32))
    nowhere = np.broadcast_to(divisor == 0, shape)
    return np.where(nowhere[..., np.newaxis], fill.astype(x.dtype), found.astype(x.dtype))


def _between(x: np.ndarray, rows: np.ndarray, columns: np.ndarray, fill: np.float32) -> np.ndarray:
    top, left = np.floor(rows), np.floor(columns)
    up, down = (top + 1 - rows)[..., np.newaxis], (rows - top)[..., np.newaxis]
    before, across = (left + 1 - columns)[..., np.newaxis], (columns - left)[..., np.newaxis]
    edges = [
        before * _read(x, row, left, fill) + across * _read(x, row, left + 1, fill) for row in (top, top + 1)
    ]
    return np.asarray(up * edges[0] + down * edges[1])


def projective_transform_v2(
    x: np.ndarray, transforms: np.ndarray, size: np.ndarray, *, interpolation: str, fill_mode: str
) -> np.ndarray:
    """V3, what is outside being 0."""
    return _transformed(x, transforms, size, np.float32(0), interpolation, fill_mode)


def projective_transform_v3(
    x: np.ndarray,
    transforms: np.ndarray,
    size: np.ndarray,
    fill_value: np.ndarray,
    *,
    interpolation: str,
    fill_mode: str,
) -> np.ndarray:
    """x [N, H, W, C] read at ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k), k = c0 x + c1 y + 1.

    transforms are rows (a0, a1, a2, b0, b1, b2, c0, c1), one or one for each image; size is the
    output's height and width.
    """
    if fill_value.ndim:
        message = "fill_value must be a scalar"
        raise InvalidArgumentError(f"ImageProjectiveTransformV3: {message}, got {list(fill_value.shape)}")
    return _transformed(x, transforms, size, fill_value.flat[0], interpolation, fill_mode)


REGISTRATIONS = (
    kernel("ImageProjectiveTransformV2", projective_transform_v2, dtype=_TYPES),
    kernel("ImageProjectiveTransformV3", projective_transform_v3, dtype=_TYPES),
)
