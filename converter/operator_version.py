"""The version of each operator: the first one that knows what the operator uses."""

from __future__ import annotations

from ..schema.tflite import BuiltinOperator, DepthwiseConv2DOptionsT, FullyConnectedOptionsT
from .lite_graph import LiteOperator


def version_of(operator: LiteOperator) -> int:
    """Version to write for the operator.

    Source: LiteRT tflite/converter/tools/versioning/op_version.cc.
    """
    if operator.code == BuiltinOperator.CONV_2D:
        return 6 if _is_grouped(operator) else 1
    if isinstance(operator.options, DepthwiseConv2DOptionsT):
        dilated = operator.options.dilation_h_factor != 1 or operator.options.dilation_w_factor != 1
        return 2 if dilated else 1
    if isinstance(operator.options, FullyConnectedOptionsT):
        return _fully_connected(operator, operator.options)
    return 1


def _is_grouped(operator: LiteOperator) -> bool:
    x, weights = operator.inputs[:2]
    assert x is not None and weights is not None
    return x.shape is not None and weights.shape is not None and x.shape[3] != weights.shape[3]


def _fully_connected(operator: LiteOperator, options: FullyConnectedOptionsT) -> int:
    without_bias = len(operator.inputs) < 3 or operator.inputs[2] is None
    return 6 if without_bias else 5 if options.keep_num_dims else 1
