"""Convolution over any number of spatial axes, channels last: forward and its two gradients."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from .half_precision import wide_type, widened
from .kernel import checked_shape
from .window import Window, inside, padded, patches, row_blocks, tap_slices

# As many products are made at once: of more, calls of NumPy cost less than memory.
_FEW_RESULTS, _FEW_TAPS = 1 << 13, 64


def convolve(x: np.ndarray, w: np.ndarray, window: Window) -> np.ndarray:
    """y [N, output, O] of x [N, spatial, C] and w [filter, C / groups, O], in x's type.

    16-bit floats are summed in float32.
    """
    dtype = wide_type(x.dtype)
    shape = checked_shape((len(x), *window.output, w.shape[-1]), dtype)
    if 0 in shape or w.size == 0:
        return np.zeros(shape, x.dtype)
    view, filters = patches(widened(padded(x, window)), window), widened(w)
    depth, blocks = math.prod(w.shape[:-1]), [*row_blocks(view)]
    if len(blocks) == 1 and w.shape[-2] == x.shape[-1]:
        y = view.reshape(-1, depth) @ filters.reshape(depth, -1)
        return y.reshape(shape).astype(x.dtype, copy=False)
    y = np.empty(shape, dtype)
    for inputs, outputs in _groups(x.shape[-1], w):
        matrix = filters[..., outputs].reshape(depth, -1)
        for rows in blocks:
            columns = view[:, rows][..., inputs].reshape(-1, depth)
            y[:, rows][..., outputs] = (columns @ matrix).reshape(*y[:, rows].shape[:-1], -1)
    return y.astype(x.dtype, copy=False)


def _groups(channels: int, w: np.ndarray) -> Iterator[tuple[slice, slice]]:
    """For each group: its channels of the input, its channels of the output."""
    each = w.shape[-2]
    groups = channels // each
    made = w.shape[-1] // groups
    for group in range(groups):
        yield slice(group * each, (group + 1) * each), slice(group * made, (group + 1) * made)


def filter_gradient(
    x: np.ndarray, shape: tuple[int, ...], gradient: np.ndarray, window: Window
) -> np.ndarray:
    """The gradient of a filter of the shape [filter, C / groups, O], for gradient [N, output, O]."""
    dtype = wide_type(x.dtype)
    w = np.zeros(checked_shape(shape, dtype), dtype)
    if x.size == 0 or gradient.size == 0 or w.size == 0:
        return w.astype(x.dtype, copy=False)
    view, dy = patches(widened(padded(x, window)), window), widened(gradient)
    taps = math.prod(window.size)
    for inputs, outputs in _groups(x.shape[-1], w):
        for rows in row_blocks(view):
            columns = view[:, rows][..., inputs].reshape(-1, taps * shape[-2])
            part = dy[:, rows][..., outputs]
            product = columns.T @ part.reshape(-1, part.shape[-1])
            w[..., outputs] += product.reshape(*shape[:-1], -1)
    return w.astype(x.dtype, copy=False)


def input_gradient(shape: tuple[int, ...], w: np.ndarray, gradient: np.ndarray, window: Window) -> np.ndarray:
    """The gradient of an input of the shape [N, spatial, C], for gradient [N, output, O]."""
    dtype = wide_type(w.dtype)
    dx = padded_zeros(shape, window, dtype)
    if dx.size and gradient.size:
        dy, filters = widened(gradient), widened(w)
        for inputs, outputs in _groups(shape[-1], w):
            part = np.ascontiguousarray(dy[..., outputs])
            for tap, slices in tap_slices(window):
                dx[slices][..., inputs] += part @ filters[tap][:, outputs].T
    return dx[inside(window)].astype(w.dtype)


def padded_zeros(shape: tuple[int, ...], window: Window, dtype: np.dtype) -> np.ndarray:
    """Zeros for an input [N, spatial, C] with its padding."""
    sums = zip(window.input, window.before, window.after, strict=True)
    sizes = (shape[0], *(n + low + high for n, low, high in sums), shape[-1])
    return np.zeros(checked_shape(sizes, dtype), dtype)


def depthwise(x: np.ndarray, w: np.ndarray, window: Window) -> np.ndarray:
    """y [N, output, C M] of x [N, spatial, C] and w [filter, C, M]: each channel by M filters."""
    dtype = wide_type(x.dtype)
    channels, multiplier = w.shape[-2:]
    y = np.zeros(checked_shape((len(x), *window.output, channels, multiplier), dtype), dtype)
    whole, filters = widened(padded(x, window)), widened(w)
    if 1 < y.size <= _FEW_RESULTS and math.prod(window.size) <= _FEW_TAPS:
        _sum_at_once(whole, filters, window, y)
    else:
        for tap, slices in tap_slices(window):
            if multiplier == 1:
                y[..., 0] += whole[slices] * filters[tap][:, 0]
            else:
                y += whole[slices][..., np.newaxis] * filters[tap]
    return y.reshape(*y.shape[:-2], channels * multiplier).astype(x.dtype, copy=False)


def _sum_at_once(x: np.ndarray, filters: np.ndarray, window: Window, y: np.ndarray) -> None:
    """The products of all taps, added up in their order (which NumPy leaves for a single result)."""
    rank = len(window.size)
    view = patches(x, window)[..., np.newaxis]
    taps = np.moveaxis(view, range(1 + rank, 1 + 2 * rank), range(rank))
    places = filters.reshape(*window.size, *(1,) * (1 + rank), *filters.shape[-2:])
    products = np.multiply(taps, places, order="C")  # NumPy adds up first what lies together
    np.add.reduce(products, axis=tuple(range(rank)), out=y)


def depthwise_filter_gradient(
    x: np.ndarray, shape: tuple[int, ...], gradient: np.ndarray, window: Window
) -> np.ndarray:
    """The gradient of a depthwise filter of the shape [filter, C, M], for gradient [N, output, C M]."""
    dtype = wide_type(x.dtype)
    w = np.zeros(checked_shape(shape, dtype), dtype)
    dy = widened(gradient).reshape(-1, *shape[-2:])
    whole = widened(padded(x, window))
    for tap, slices in tap_slices(window):
        seen = np.ascontiguousarray(whole[slices]).reshape(-1, shape[-2])
        w[tap] = np.einsum("pc,pcm->cm", seen, dy)
    return w.astype(x.dtype, copy=False)


def depthwise_input_gradient(
    shape: tuple[int, ...], w: np.ndarray, gradient: np.ndarray, window: Window
) -> np.ndarray:
    """The gradient of a depthwise input of the shape [N, spatial, C], for gradient [N, output, C M].

    Where no output saw an input through a tap, the tap counts as often as it would with a gradient of 0.
    Source: TensorFlow tensorflow/core/kernels/depthwise_conv_grad_op.cc, CopyOutputBackpropRegion.
    """
    dx = padded_zeros(shape, window, wide_type(w.dtype))
    dy, filters = widened(gradient), widened(w)
    dy = dy.reshape(*dy.shape[:-1], *w.shape[-2:])
    for tap, slices in tap_slices(window):
        dx[slices] += (dy * filters[tap]).sum(axis=-1)
        if not np.isfinite(filters[tap]).all():
            unseen = np.ones(dx.shape[:-1], bool)
            unseen[slices] = False
            dx[unseen] += (0 * filters[tap]).sum(axis=-1)
    return dx[inside(window)].astype(w.dtype)
