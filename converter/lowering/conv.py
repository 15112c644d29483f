"""Conv2D: CONV_2D with the filter as [O, KH, KW, I]."""

from __future__ import annotations

import numpy as np

from ...kernels.contraction.geometry import conv_geometry
from ...lite.errors import UnsupportedError
from ...lite.tensor import Shape, TensorType
from ...schema.tflite import BuiltinOperator, Conv2DOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor, PartialShape
from ..partial_shape import inferred, is_known
from .lowering import Lowering, Rule, check_type
from .window import check_rank, image_input, image_result, padded_input, window_of


def conv_2d(lowering: Lowering, node: Node) -> LiteTensor:
    """CONV_2D with a bias of zeros, to be filled by what follows; groups by the depths."""
    x, filters = image_input(lowering, node), lowering.input(node, 1)
    check_type(x, TensorType.FLOAT32)
    check_rank(filters, 4)
    window = window_of(node)
    x, padding = padded_input(lowering, node, x)
    weights = lowering.transposed(node, filters, (3, 0, 1, 2), "/transposed")
    options = Conv2DOptionsT(
        padding=padding,
        stride_h=window.stride_h,
        stride_w=window.stride_w,
        dilation_h_factor=window.dilation_h,
        dilation_w_factor=window.dilation_w,
    )
    if weights.shape is None or not is_known(weights.shape):
        raise UnsupportedError("the filter's shape must be known")
    shape = _shape(options, x.shape, weights.shape)
    # LiteRT's fast path takes only convolutions that have a bias.
    bias = lowering.constant(lowering.name(node, "/bias"), np.zeros(weights.shape[0], np.float32))
    y = lowering.operator(node, BuiltinOperator.CONV_2D, [x, weights, bias], shape, options)
    return image_result(lowering, node, y)


def _shape(options: Conv2DOptionsT, x: PartialShape, weights: Shape) -> PartialShape:
    if x is not None and x[3] == -1:
        raise UnsupportedError("the number of input channels must be known")
    return inferred(lambda known: conv_geometry(options, known, weights).output_shape, x)


REGISTRATIONS: dict[str, Rule] = {"Conv2D": conv_2d}
