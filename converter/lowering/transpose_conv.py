"""Conv2DBackpropInput: a transposed convolution."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from ...schema.tflite import BuiltinOperator, Padding, TransposeConvOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule
from .window import is_channels_first, window_of


def conv_2d_backprop_input(lowering: Lowering, node: Node) -> LiteTensor:
    """TRANSPOSE_CONV with the filter as [O, KH, KW, I]."""
    sizes, filters, x = lowering.inputs(node)
    window = window_of(node)
    if (window.dilation_h, window.dilation_w) != (1, 1):
        raise UnsupportedError("dilations of a transposed convolution are not built")
    if is_channels_first(node):
        raise UnsupportedError("data_format NCHW of a transposed convolution is not built, NHWC is")
    if node.text("padding") not in ("SAME", "VALID"):
        raise UnsupportedError(f"padding {node.text('padding')!r} of a transposed convolution is not built")
    weights = lowering.transposed(node, filters, (2, 0, 1, 3), "/transposed")
    options = TransposeConvOptionsT(
        padding=Padding[node.text("padding")], stride_h=window.stride_h, stride_w=window.stride_w
    )
    inputs = [as_int32(lowering, node, sizes), weights, x]
    shape = lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.TRANSPOSE_CONV, inputs, shape, options, type=x.type)


REGISTRATIONS: dict[str, Rule] = {"Conv2DBackpropInput": conv_2d_backprop_input}
