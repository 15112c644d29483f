"""ArgMax and ArgMin."""

from __future__ import annotations

from ...schema.tflite import ArgMaxOptionsT, ArgMinOptionsT, BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def arg_max(lowering: Lowering, node: Node) -> LiteTensor:
    """ARG_MAX."""
    type = lowering.result_type(node)
    options = ArgMaxOptionsT(output_type=type)
    shape = lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.ARG_MAX, lowering.inputs(node), shape, options, type=type)


def arg_min(lowering: Lowering, node: Node) -> LiteTensor:
    """ARG_MIN."""
    type = lowering.result_type(node)
    options = ArgMinOptionsT(output_type=type)
    shape = lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.ARG_MIN, lowering.inputs(node), shape, options, type=type)


REGISTRATIONS: dict[str, Rule] = {"ArgMax": arg_max, "ArgMin": arg_min}
