"""DepthwiseConv2dNative: DEPTHWISE_CONV_2D with the filter as [1, KH, KW, C * multiplier]."""

from __future__ import annotations

import numpy as np

from ...kernels.contraction.geometry import depthwise_geometry
from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, DepthwiseConv2DOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import inferred, is_known
from .lowering import Lowering, Rule, check_type
from .reshape import reshaped
from .window import check_rank, image_input, image_result, padded_input, window_of


def depthwise_conv_2d(lowering: Lowering, node: Node) -> LiteTensor:
    """DEPTHWISE_CONV_2D with a bias of zeros, to be filled by what follows."""
    x, filters = image_input(lowering, node), lowering.input(node, 1)
    check_type(x, TensorType.FLOAT32)
    check_rank(filters, 4)
    window = window_of(node)
    if filters.shape is None or not is_known(filters.shape):
        raise UnsupportedError("the filter's shape must be known")
    if x.shape is not None and x.shape[3] == -1:
        raise UnsupportedError("the number of input channels must be known")
    x, padding = padded_input(lowering, node, x)
    height, width, depth, multiplier = filters.shape
    filter_shape = (1, height, width, depth * multiplier)
    weights = _as_one(lowering, node, filters, filter_shape)
    options = DepthwiseConv2DOptionsT(
        padding=padding,
        stride_h=window.stride_h,
        stride_w=window.stride_w,
        depth_multiplier=multiplier,
        dilation_h_factor=window.dilation_h,
        dilation_w_factor=window.dilation_w,
    )
    shape = inferred(lambda known: depthwise_geometry(options, known, filter_shape).output_shape, x.shape)
    # LiteRT's fast path takes only convolutions that have a bias.
    bias = lowering.constant(lowering.name(node, "/bias"), np.zeros(depth * multiplier, np.float32))
    code = BuiltinOperator.DEPTHWISE_CONV_2D
    y = lowering.operator(node, code, [x, weights, bias], shape, options)
    return image_result(lowering, node, y)


def _as_one(
    lowering: Lowering, node: Node, filters: LiteTensor, shape: tuple[int, int, int, int]
) -> LiteTensor:
    """The filter in the operator's shape: at once when it is constant."""
    if filters.data is not None:
        return lowering.constant(f"{filters.name}/transposed", np.reshape(filters.data, shape))
    made = reshaped(lowering, node, filters, shape)
    assert made is not None
    return made


REGISTRATIONS: dict[str, Rule] = {"DepthwiseConv2dNative": depthwise_conv_2d}
