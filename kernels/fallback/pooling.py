"""Pools over any number of spatial axes, channels last: the greatest, the mean, and their gradients."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .convolution import padded_zeros
from .half_precision import wide_type, widened
from .window import Window, inside, padded, tap_slices

# NumPy knows no limits of it.
_LOWEST_BFLOAT16 = -3.3895313892515355e38


def lowest(dtype: np.dtype) -> object:
    """What no finite element of the type is below."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).min
    return dtype.type(_LOWEST_BFLOAT16) if dtype.name == "bfloat16" else np.finfo(dtype).min


def _axis_slices(window: Window, axis: int) -> Iterator[tuple[slice, ...]]:
    """What each tap meets along one axis, the others whole: pools are made axis by axis."""
    stride, size = window.strides[axis], window.output[axis]
    for tap in range(window.size[axis]):
        steps = slice(tap, tap + (size - 1) * stride + 1 if size else 0, stride)
        yield (*(slice(None),) * (axis + 1), steps)


def greatest(x: np.ndarray, window: Window) -> np.ndarray:
    """The greatest element under each window of x [N, spatial, C].

    Padding and NaNs do not count; where there is nothing else, it is the lowest finite number.
    """
    best = padded(x, window, lowest(x.dtype))
    for axis, size in enumerate(window.output):
        shape = (*best.shape[: axis + 1], size, *best.shape[axis + 2 :])
        found = np.full(shape, lowest(x.dtype), x.dtype)
        for slices in _axis_slices(window, axis):
            np.fmax(found, best[slices], out=found)
        best = found
    return best


def first_greatest(x: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """The greatest element under each window, and the number of the first tap that has it.

    -1 where the window sees padding alone. A NaN counts where it comes first.
    """
    shape = (len(x), *window.output, x.shape[-1])
    best, places = np.full(shape, lowest(x.dtype), x.dtype), np.full(shape, -1, np.int32)
    whole = padded(x, window)
    counts = padded(np.ones((1, *x.shape[1:-1], 1), bool), window, False)
    for number, (_, slices) in enumerate(tap_slices(window)):
        value = whole[slices]
        better = ((value > best) | (places < 0)) & counts[slices]
        np.copyto(best, value, where=better)
        places[better] = number
    return best, places


def scattered(gradient: np.ndarray, places: np.ndarray, shape: tuple[int, ...], window: Window) -> np.ndarray:
    """gradient [N, output, C], each element added where its window's greatest one is, in [N, spatial, C]."""
    dy = widened(gradient)
    dx = padded_zeros(shape, window, dy.dtype)
    for number, (_, slices) in enumerate(tap_slices(window)):
        dx[slices] += np.where(places == number, dy, dy.dtype.type(0))
    return dx[inside(window)].astype(gradient.dtype)


def shared_by_equals(
    gradient: np.ndarray, x: np.ndarray, greatest_of: np.ndarray, window: Window
) -> np.ndarray:
    """gradient [N, output, C], added to every element of x under a window that equals its greatest one."""
    dy = widened(gradient)
    dx, whole = padded_zeros(x.shape, window, dy.dtype), padded(x, window)
    for _, slices in tap_slices(window):
        dx[slices] += np.where(whole[slices] == greatest_of, dy, dy.dtype.type(0))
    return dx[inside(window)].astype(gradient.dtype)


def first_of_equals(values: np.ndarray, x: np.ndarray, wanted: np.ndarray, window: Window) -> np.ndarray:
    """The elements of values [N, spatial, C] where x first equals what is wanted [N, output, C], else 0."""
    found, waits = np.zeros(wanted.shape, values.dtype), np.ones(wanted.shape, bool)
    whole, held = padded(values, window), padded(x, window)
    counts = padded(np.ones((1, *x.shape[1:-1], 1), bool), window, False)
    for _, slices in tap_slices(window):
        equal = waits & (held[slices] == wanted) & counts[slices]
        np.copyto(found, whole[slices], where=equal)
        waits &= ~equal
    return found


def _sums(total: np.ndarray, window: Window) -> np.ndarray:
    """The sum of what each window sees of a padded array."""
    for axis, size in enumerate(window.output):
        found = np.zeros((*total.shape[: axis + 1], size, *total.shape[axis + 2 :]), total.dtype)
        for slices in _axis_slices(window, axis):
            found += total[slices]
        total = found
    return total


def _counts(window: Window, dtype: np.dtype) -> np.ndarray:
    """How many elements of the input each window sees: [1, output, 1]."""
    return _sums(padded(np.ones((1, *window.input, 1), dtype), window), window)


def summed(x: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """The sum of what each window sees of x [N, spatial, C], and of how many elements it is."""
    return _sums(padded(x, window), window), _counts(window, x.dtype)


def mean(x: np.ndarray, window: Window) -> np.ndarray:
    """The mean of what each window sees of x [N, spatial, C], padding not counted."""
    total = _sums(widened(padded(x, window)), window)
    return (total / _counts(window, total.dtype)).astype(x.dtype)


def mean_gradient(gradient: np.ndarray, shape: tuple[int, ...], window: Window) -> np.ndarray:
    """gradient [N, output, C], shared out evenly to what each window sees, in [N, spatial, C]."""
    dtype = wide_type(gradient.dtype)
    share = widened(gradient) / _counts(window, dtype)
    for axis, sizes in enumerate(zip(window.before, window.input, window.after, strict=True)):
        spread = np.zeros((*share.shape[: axis + 1], sum(sizes), *share.shape[axis + 2 :]), dtype)
        for slices in _axis_slices(window, axis):
            spread[slices] += share
        share = spread
    return share[inside(window)].reshape(shape).astype(gradient.dtype)
