"""Dilation2D, grey-scale morphology, and its gradients."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .convolution import padded_zeros
from .data_format import spatial
from .dtypes import REAL
from .half_precision import wide_type, widened
from .pooling import lowest
from .registry import kernel
from .status import InvalidArgumentError
from .window import Window, inside, padded, sliding_window, tap_slices


@dataclass(frozen=True, kw_only=True)
class DilationAttributes:
    """Strides, and dilations by the name that they have here, of four axes; SAME or VALID."""

    strides: list[int]
    rates: list[int]
    padding: str


def _window(op: str, x: np.ndarray, w: np.ndarray, attributes: DilationAttributes) -> Window:
    if x.ndim != 4 or w.ndim != 3 or x.shape[3] != w.shape[2]:
        message = "input must be [N, H, W, C] and filter [KH, KW, C]"
        raise InvalidArgumentError(f"{op}: {message}, got {list(x.shape)} and {list(w.shape)}")
    steps = spatial(op, "strides", attributes.strides, False, 4)
    spread = spatial(op, "rates", attributes.rates, False, 4)
    return sliding_window(op, x.shape[1:3], w.shape[:2], steps, spread, attributes.padding)


def _highest(x: np.ndarray, w: np.ndarray, window: Window) -> tuple[np.ndarray, np.ndarray]:
    """The greatest x + w under each window, and the number of the tap that it comes from.

    Padding does not count. Of equals the first tap is it; -1 where none is above
    the type's least.
    """
    shape = (len(x), *window.output, x.shape[3])
    best = np.full(shape, lowest(x.dtype), x.dtype)
    places = np.full(shape, -1, np.int32)
    whole = padded(x, window)
    counts = padded(np.ones((1, *x.shape[1:3], 1), bool), window, False)
    for number, (tap, slices) in enumerate(tap_slices(window)):
        value = whole[slices] + w[tap]
        better = (value > best) & counts[slices]
        best = np.where(better, value, best)
        places[better] = number
    return best, places


def dilation_2d(x: np.ndarray, w: np.ndarray, *, attributes: DilationAttributes) -> np.ndarray:
    """max over the filter of x [N, H, W, C] + w [KH, KW, C].

    Source: TensorFlow tensorflow/core/kernels/dilation_ops.cc.
    """
    return _highest(x, w, _window("Dilation2D", x, w, attributes))[0]


def _places(op: str, x: np.ndarray, w: np.ndarray, gradient: np.ndarray, window: Window) -> np.ndarray:
    """_highest's taps, where the gradient has their shape."""
    wanted = (len(x), *window.output, x.shape[3])
    if gradient.shape != wanted:
        raise InvalidArgumentError(f"{op}: out_backprop must be {list(wanted)}, got {list(gradient.shape)}")
    return _highest(x, w, window)[1]


def _shares(
    places: np.ndarray, gradient: np.ndarray, window: Window
) -> Iterator[tuple[tuple[int, ...], tuple[slice, ...], np.ndarray]]:
    """For each tap what of the gradient is its own, zeros elsewhere: the tap, where it sees x, the share."""
    dy = widened(gradient)
    for number, (tap, slices) in enumerate(tap_slices(window)):
        yield tap, slices, np.where(places == number, dy, dy.dtype.type(0))


def dilation_2d_input_gradient(
    x: np.ndarray, w: np.ndarray, gradient: np.ndarray, *, attributes: DilationAttributes
) -> np.ndarray:
    """gradient, given to the element of x that made each maximum.

    Where none did, the element of x nearest to the window's first place has it.
    """
    op = "Dilation2DBackpropInput"
    window = _window(op, x, w, attributes)
    places = _places(op, x, w, gradient, window)
    dx = padded_zeros(x.shape, window, wide_type(x.dtype))
    for _, slices, share in _shares(places, gradient, window):
        dx[slices] += share
    inner = dx[inside(window)]
    image, *at, channel = np.nonzero(places < 0)
    steps = zip(at, window.strides, window.before, strict=True)
    first = (np.maximum(n * stride - before, 0) for n, stride, before in steps)
    np.add.at(inner, (image, *first, channel), widened(gradient)[places < 0])
    return inner.astype(x.dtype)


def dilation_2d_filter_gradient(
    x: np.ndarray, w: np.ndarray, gradient: np.ndarray, *, attributes: DilationAttributes
) -> np.ndarray:
    """gradient, given to the element of w that made each maximum, and to the first where none did."""
    op = "Dilation2DBackpropFilter"
    window = _window(op, x, w, attributes)
    dw = np.zeros(w.shape, wide_type(w.dtype))
    places = np.maximum(_places(op, x, w, gradient, window), 0)
    for tap, _, share in _shares(places, gradient, window):
        dw[tap] = share.sum(axis=(0, 1, 2), dtype=dw.dtype)
    return dw.astype(w.dtype)


REGISTRATIONS = (
    kernel("Dilation2D", dilation_2d, T=REAL),
    kernel("Dilation2DBackpropInput", dilation_2d_input_gradient, T=REAL),
    kernel("Dilation2DBackpropFilter", dilation_2d_filter_gradient, T=REAL),
)
