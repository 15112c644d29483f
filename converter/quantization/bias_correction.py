"""Bias correction: what rounded weights add to each channel on average is taken off the bias.

Given    y = W x + b, and the mean of x at each element of the filter over samples and positions
Result   y' = W' x + (b + (W - W') mean(x)), whose mean is that of y

It costs nothing when the model runs. A layer without a bias that needs none is left as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...kernels.padding import windows
from .float_graph import FloatGraph, Site, Step

# Of operators whose filter slides over an image.
_SLIDING = ("CONV_2D", "DEPTHWISE_CONV_2D")
_DENSE = "FULLY_CONNECTED"
_LONG_ROW = 512


class FilterInput:
    """The input of an operator with filter and bias, and its mean over samples and batches.

    site is the input, result the operator's first result.
    """

    def __init__(self, step: Step, site: Site, filter_shape: tuple[int, ...]) -> None:
        self.site, self.result = site, Site(step.graph, step.outputs[0])
        self._step, self._filter_shape = step, filter_shape
        # Where each pixel is a window, the sum over them is all that is wanted of an image.
        self._is_pointwise = _is_pointwise(step, filter_shape)
        self._shape: tuple[int, ...] | None = None
        self._sum: np.ndarray | None = None
        self._count = 0
        self._varies = False

    def update(self, values: np.ndarray) -> None:
        """See the input's values: rows of any shape, or images [n, h, w, c]."""
        rows = values.reshape(-1, self._filter_shape[-1]) if self._step.name == _DENSE else values
        if self._shape is None:
            self._shape = rows.shape[1:]
        if self._shape != rows.shape[1:]:
            self._varies = True
            return
        if self._is_pointwise:
            rows = rows.reshape(-1, rows.shape[-1])
        if self._sum is None:
            self._sum = np.zeros(rows.shape[1:])
        self._sum += rows[0] if len(rows) == 1 else _sum_of_rows(rows)
        self._count += len(rows)

    def means(self) -> np.ndarray | None:
        """What each element of the filter meets on average: [depth], or [rows, columns, input channels].

        Beyond an image's edges there are zeros. None where nothing was seen, or images of several sizes.
        """
        if self._sum is None or self._varies or not self._count:
            return None
        mean = self._sum / self._count
        if self._is_pointwise:
            return mean[np.newaxis, np.newaxis]
        return mean if self._step.name == _DENSE else self._in_windows(mean)

    def _in_windows(self, mean: np.ndarray) -> np.ndarray:
        options: Any = self._step.operator.builtin_options
        rows, columns = self._filter_shape[1:3]
        height, width, depth = mean.shape
        at_rows, at_columns = windows(self._step.name, options, (height, width), (rows, columns))
        found = np.zeros((rows, columns, depth))
        for row in range(rows):
            own_rows = _places(at_rows, row * options.dilation_h_factor, options.stride_h, height)
            for column in range(columns):
                own = _places(at_columns, column * options.dilation_w_factor, options.stride_w, width)
                found[row, column] = mean[own_rows, own].sum(axis=(0, 1))
        return found / max(at_rows.out_size * at_columns.out_size, 1)


def _is_pointwise(step: Step, filter_shape: tuple[int, ...]) -> bool:
    options: Any = step.operator.builtin_options
    is_small = step.name == "CONV_2D" and filter_shape[1:3] == (1, 1)
    return is_small and options.stride_w == options.stride_h == 1


def _sum_of_rows(rows: np.ndarray) -> np.ndarray:
    """float64 [columns, ...] of float32 [rows, columns, ...]; NumPy takes long for many short rows."""
    together = 1
    while together * rows[0].size < _LONG_ROW and len(rows) % (2 * together) == 0:
        together *= 2
    some = rows.reshape(-1, together, *rows.shape[1:]).sum(axis=0, dtype=np.float64)
    return np.asarray(some.sum(axis=0))


def filter_inputs(graph: FloatGraph) -> list[FilterInput]:
    """The inputs of all operators whose bias can be corrected."""
    found = []
    for step in graph.steps:
        rule = step.constraint
        if rule is None or rule.weights is None or step.name not in (*_SLIDING, _DENSE):
            continue
        filter_site = Site(step.graph, step.inputs[rule.weights.place])
        bias = step.inputs[rule.weights.bias] if rule.weights.bias < len(step.inputs) else -1
        if (
            graph.is_constant(filter_site)
            and graph.is_float(filter_site)
            and (bias >= 0 or rule.weights.needs_bias)
        ):
            shape = graph.constant(filter_site).shape
            found.append(FilterInput(step, step.operand_sites()[0], shape))
    return found


def _places(window: Any, offset: int, stride: int, size: int) -> slice:
    """Which rows (or columns) of the image an element of the filter meets."""
    first = offset - window.pad_before
    missing = max(-(first // stride), 0)  # of those before the image
    begin = first + missing * stride
    end = min(first + window.out_size * stride, size)
    return slice(begin, max(end, begin), stride)


def correction(step: Step, means: np.ndarray, error: np.ndarray) -> np.ndarray:
    """What the bias is to be added, a channel: error is W - W' in the filter's shape, means FilterInput's."""
    wide = error.astype(np.float64)
    if step.name == _DENSE:
        return wide @ means
    if step.name == "DEPTHWISE_CONV_2D":
        each = wide.shape[3] // means.shape[2]
        return (wide[0] * np.repeat(means, each, axis=2)).sum(axis=(0, 1))
    groups = means.shape[2] // wide.shape[3]
    own = np.split(means, groups, axis=2)
    parts = np.split(wide, groups, axis=0)
    return np.concatenate([np.tensordot(w, m, 3) for w, m in zip(parts, own, strict=True)])
