"""Padding that the convolution after it can do itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kernels.conv import ConvGeometry, conv_geometry
from ...kernels.depthwise_conv import DepthwiseGeometry, depthwise_geometry
from ...lite.tensor import Shape
from ...schema.tflite import BuiltinOperator, Conv2DOptionsT, DepthwiseConv2DOptionsT, Padding
from ..lite_graph import LiteGraph, LiteOperator
from ..partial_shape import is_known

_Convolution = Conv2DOptionsT | DepthwiseConv2DOptionsT


class FusePadding:
    """Turns a PAD before a convolution into SAME padding, where both pad alike.

    Given:  y = CONV_2D(PAD(x, p), w, b) with padding VALID
    Result: y = CONV_2D(x, w, b) with padding SAME

    Also for DEPTHWISE_CONV_2D. x's images must have a known size, and p must be what SAME pads.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many paddings were skipped."""
        producers = graph.producers()
        fused = 0
        for operator in graph.operators:
            options = operator.options
            before = producers.get(id(operator.inputs[0])) if operator.inputs else None
            if not isinstance(options, _Convolution) or before is None or before.code != BuiltinOperator.PAD:
                continue
            if options.padding == Padding.VALID and _same_pads_alike(operator, options, before):
                options.padding = Padding.SAME
                operator.inputs[0] = before.inputs[0]
                operator.sources += before.sources
                fused += 1
        return fused


def _same_pads_alike(operator: LiteOperator, options: _Convolution, before: LiteOperator) -> bool:
    """Whether SAME on the PAD's input gives the same window positions."""
    x, paddings, weights = before.inputs[0], before.inputs[1], operator.inputs[1]
    assert x is not None and paddings is not None and weights is not None
    if x.shape is None or not is_known(x.shape[1:]) or paddings.data is None or weights.shape is None:
        return False
    (top, bottom), (left, right) = paddings.data[1:3].tolist()
    if np.any(paddings.data[[0, 3]]):
        return False
    # How many images there are does not matter.
    same = _same_geometry(options, (1, *x.shape[1:]), weights.shape)
    rows = (same.out_height - 1) * same.stride_h + (same.filter_height - 1) * same.dilation_h + 1
    columns = (same.out_width - 1) * same.stride_w + (same.filter_width - 1) * same.dilation_w + 1
    # The last window may end before the padded input does, so only what comes before must be equal, and
    # the number of windows.
    before_is_same = (same.pad_top, same.pad_left) == (top, left)
    fits = rows <= top + same.in_height + bottom and columns <= left + same.in_width + right
    y = operator.outputs[0].shape
    return before_is_same and fits and y is not None and y[1:] == same.output_shape[1:]


def _same_geometry(options: _Convolution, x: Shape, weights: Shape) -> ConvGeometry | DepthwiseGeometry:
    valid = options.padding
    options.padding = Padding.SAME
    try:
        if isinstance(options, Conv2DOptionsT):
            return conv_geometry(options, x, weights)
        return depthwise_geometry(options, x, weights)
    finally:
        options.padding = valid


def pads_as_same(before: Sequence[int], reach: Sequence[int]) -> bool:
    """Whether this is what SAME pads before an image, for filters that reach so far and strides of 1."""
    return all(n == r // 2 for n, r in zip(before, reach, strict=True))
