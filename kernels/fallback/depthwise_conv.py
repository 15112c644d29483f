"""DepthwiseConv2dNative and its gradients."""

from __future__ import annotations

import numpy as np

from .conv import ConvAttributes, Shape, check_gradient, check_rank, filter_window, last_sizes, sizes
from .convolution import depthwise, depthwise_filter_gradient, depthwise_input_gradient
from .data_format import channels_first, from_last, to_last
from .dtypes import FLOATS
from .registry import kernel
from .status import InvalidArgumentError
from .window import Window


def _window(op: str, x: Shape, w: Shape, attributes: ConvAttributes, first: bool) -> Window:
    """The window of a filter [KH, KW, C, M] over an input [N, H, W, C]."""
    if len(x) != 4 or len(w) != 4:
        raise InvalidArgumentError(
            f"{op}: input and filter must have 4 dimensions, got {list(x)} and {list(w)}"
        )
    if x[-1] != w[2]:
        message = f"filter must have the input's {x[-1]} channels"
        raise InvalidArgumentError(f"{op}: {message}, got {list(w)}")
    return filter_window(op, x, w[:2], attributes, first)


def depthwise_conv_2d(x: np.ndarray, w: np.ndarray, *, attributes: ConvAttributes) -> np.ndarray:
    """Each channel of x [N, H, W, C] by M filters, w [KH, KW, C, M]: [N, OH, OW, C M].

    Source: TensorFlow tensorflow/core/kernels/depthwise_conv_op.cc.
    """
    op = "DepthwiseConv2dNative"
    check_rank(op, x, w, 4)
    first = channels_first(op, attributes.data_format)
    x = to_last(x, first)
    window = _window(op, x.shape, w.shape, attributes, first)
    return from_last(depthwise(x, w, window), first)


def depthwise_conv_2d_input_gradient(
    input_sizes: np.ndarray, w: np.ndarray, gradient: np.ndarray, *, attributes: ConvAttributes
) -> np.ndarray:
    """The gradient of the input, of input_sizes."""
    op = "DepthwiseConv2dNativeBackpropInput"
    check_rank(op, gradient, w, 4)
    first = channels_first(op, attributes.data_format)
    wanted = sizes(op, "input_sizes", input_sizes)
    shape = last_sizes(wanted, first) if len(wanted) == 4 else wanted
    window = _window(op, shape, w.shape, attributes, first)
    dy = to_last(gradient, first)
    check_gradient(op, dy, shape, w.shape[2] * w.shape[3], window)
    return from_last(depthwise_input_gradient(shape, w, dy, window), first)


def depthwise_conv_2d_filter_gradient(
    x: np.ndarray, filter_sizes: np.ndarray, gradient: np.ndarray, *, attributes: ConvAttributes
) -> np.ndarray:
    """The gradient of the filter, of filter_sizes."""
    op = "DepthwiseConv2dNativeBackpropFilter"
    check_rank(op, x, gradient, 4)
    first = channels_first(op, attributes.data_format)
    shape = sizes(op, "filter_sizes", filter_sizes)
    x, dy = to_last(x, first), to_last(gradient, first)
    window = _window(op, x.shape, shape, attributes, first)
    check_gradient(op, dy, x.shape, shape[2] * shape[3], window)
    return depthwise_filter_gradient(x, shape, dy, window)


REGISTRATIONS = (
    kernel("DepthwiseConv2dNative", depthwise_conv_2d, T=FLOATS),
    kernel("DepthwiseConv2dNativeBackpropInput", depthwise_conv_2d_input_gradient, T=FLOATS),
    kernel("DepthwiseConv2dNativeBackpropFilter", depthwise_conv_2d_filter_gradient, T=FLOATS),
)
