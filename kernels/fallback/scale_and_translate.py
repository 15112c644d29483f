"""ScaleAndTranslate, resampling by a filter kernel, and its gradient."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...schema import graph_def
from .dtypes import REAL
from .registry import kernel
from .resampling import Taps
from .resize import wanted_size
from .status import InvalidArgumentError, ResourceExhaustedError

_FLOAT = frozenset((graph_def.DT_FLOAT,))
_TINY = 1000 * float(np.finfo(np.float32).tiny)
_MOST_WEIGHTS = 1 << 28
_GAUSSIAN_RADIUS = 1.5


def _lanczos(radius: float) -> Callable[[np.ndarray], np.ndarray]:
    def weight(x: np.ndarray) -> np.ndarray:
        close = x <= 1e-3
        angle = np.pi * np.where(close, 1, x)
        found = radius * np.sin(angle) * np.sin(angle / radius) / np.square(angle)
        return np.where(x > radius, 0, np.where(close, 1, found))

    return weight


def _gaussian(x: np.ndarray) -> np.ndarray:
    sigma = _GAUSSIAN_RADIUS / 3
    return np.where(x >= _GAUSSIAN_RADIUS, 0, np.exp(-np.square(x) / (2 * sigma * sigma)))


def _box(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.maximum(1 - x, 0)


def _keys_cubic(x: np.ndarray) -> np.ndarray:
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0, np.where(x >= 1, far, (1.5 * x - 2.5) * x * x + 1))


def _mitchell_cubic(x: np.ndarray) -> np.ndarray:
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0, np.where(x >= 1, far, (7 / 6 * x - 2) * x * x + 8 / 9))


# Name: radius and the weight by distance.
_FILTERS: dict[str, tuple[float, Callable[[np.ndarray], np.ndarray]]] = {
    "lanczos1": (1, _lanczos(1)),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (_GAUSSIAN_RADIUS, _gaussian),
    "box": (1, _box),
    "triangle": (1, _triangle),
    "keyscubic": (2, _keys_cubic),
    "mitchellcubic": (2, _mitchell_cubic),
}


def _taps(
    size: int, wanted: int, scale: np.float32, translation: np.float32, name: str, antialias: bool
) -> Taps:
    """Weights of the inputs around each output's place (x + 0.5 - translation) / scale.

    Source: TensorFlow tensorflow/core/kernels/image/scale_and_translate_op.cc, ComputeSpansCore.
    """
    radius, weight = _FILTERS[name]
    inverse = np.float32(1) / scale
    widened = max(float(inverse), 1.0) if antialias else 1.0
    places = (np.arange(wanted, dtype=np.float32) + np.float32(0.5)) * inverse - inverse * translation
    reach = np.float32(radius * widened)
    count = int(min(2 * np.ceil(float(reach)) + 1, size))
    if count * wanted > _MOST_WEIGHTS:
        message = f"{wanted} outputs of {count} inputs each do not fit in memory"
        raise ResourceExhaustedError(f"ScaleAndTranslate: {message}")
    inside = (places >= 0) & (places <= size)
    held = np.where(inside, places, 0)
    first = np.clip(np.ceil(held - reach - np.float32(0.5)), 0, size - 1).astype(np.int64)
    last = np.clip(np.floor(held + reach - np.float32(0.5)), 0, size - 1).astype(np.int64)
    indices = first[:, np.newaxis] + np.arange(count)
    distances = np.abs(indices + np.float32(0.5) - held[:, np.newaxis]) / np.float32(widened)
    used = (indices <= last[:, np.newaxis]) & inside[:, np.newaxis]
    weights = np.where(used, weight(distances), 0)
    total = weights.sum(axis=1, keepdims=True)
    weights = np.where(np.abs(total) >= _TINY, weights / total, 0).astype(np.float32)
    return _span_taps(first, weights, size)


def _span_taps(starts: np.ndarray, weights: np.ndarray, size: int) -> Taps:
    """Weights [outputs, taps] of inputs from starts [outputs] on; those beyond `size` do not count."""
    places = starts[:, np.newaxis] + np.arange(weights.shape[1])
    return Taps(np.minimum(places, size - 1), weights, places < size)


def _gradient_taps(taps: Taps, size: int) -> Taps:
    """For each of `size` inputs the outputs from the first to the last that it has a weight in.

    All inputs have as many taps as the one with the most; what lies between counts with a weight of 0.
    Source: TensorFlow tensorflow/core/kernels/image/scale_and_translate_op.cc, ComputeGradSpansCore.
    """
    outputs, columns = np.nonzero(taps.weights)
    inputs = taps.indices[outputs, columns]
    starts, ends = np.full(size, len(taps.indices)), np.zeros(size, np.int64)
    np.minimum.at(starts, inputs, outputs)
    np.maximum.at(ends, inputs, outputs + 1)
    starts = np.where(ends > 0, starts, 0)
    weights = np.zeros((size, int((ends - starts).max())), np.float32)
    np.add.at(weights, (inputs, outputs - starts[inputs]), taps.weights[outputs, columns])
    return _span_taps(starts, weights, len(taps.indices))


def _both_taps(
    op: str,
    sizes: tuple[int, int],
    wanted: tuple[int, int],
    scale: np.ndarray,
    translation: np.ndarray,
    kernel_type: str,
    antialias: bool,
) -> tuple[Taps, Taps]:
    if scale.shape != (2,) or translation.shape != (2,):
        message = "scale and translation must be of 2 elements"
        raise InvalidArgumentError(f"{op}: {message}, got {list(scale.shape)} and {list(translation.shape)}")
    if not np.all(scale >= np.finfo(np.float32).tiny):
        raise InvalidArgumentError(f"{op}: scale must be positive, got {scale.tolist()}")
    if kernel_type not in _FILTERS:
        raise InvalidArgumentError(
            f"{op}: kernel_type must be one of {', '.join(_FILTERS)}, got {kernel_type!r}"
        )
    # Places that are no numbers lie outside the image.
    with np.errstate(invalid="ignore", over="ignore"):
        rows, columns = (
            _taps(sizes[i], wanted[i], scale[i], translation[i], kernel_type, antialias) for i in range(2)
        )
    return rows, columns


def scale_and_translate(
    x: np.ndarray,
    size: np.ndarray,
    scale: np.ndarray,
    translation: np.ndarray,
    *,
    kernel_type: str,
    antialias: bool,
) -> np.ndarray:
    """x [N, H, W, C] scaled, then moved, rows first, sampled at size [height, width]; float32.

    Outside the image there are zeros.
    """
    op = "ScaleAndTranslate"
    wanted = wanted_size(op, x, size)
    sizes = (x.shape[1], x.shape[2])
    rows, columns = _both_taps(op, sizes, wanted, scale, translation, kernel_type, antialias)
    return columns.apply(rows.apply(x.astype(np.float32), 1), 2)


def scale_and_translate_gradient(
    gradient: np.ndarray,
    x: np.ndarray,
    scale: np.ndarray,
    translation: np.ndarray,
    *,
    kernel_type: str,
    antialias: bool,
) -> np.ndarray:
    """The gradient of ScaleAndTranslate's input x, of which height and width count."""
    op = "ScaleAndTranslateGrad"
    if gradient.ndim != 4 or x.ndim != 4:
        message = "gradient and image must have 4 dimensions"
        raise InvalidArgumentError(f"{op}: {message}, got {list(gradient.shape)} and {list(x.shape)}")
    wanted = wanted_size(op, x, np.array(gradient.shape[1:3]))
    sizes = (x.shape[1], x.shape[2])
    rows, columns = _both_taps(op, sizes, wanted, scale, translation, kernel_type, antialias)
    up, across = _gradient_taps(rows, sizes[0]), _gradient_taps(columns, sizes[1])
    return across.apply(up.apply(gradient, 1), 2)


REGISTRATIONS = (
    kernel("ScaleAndTranslate", scale_and_translate, T=REAL),
    kernel("ScaleAndTranslateGrad", scale_and_translate_gradient, T=_FLOAT),
)
