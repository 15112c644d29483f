"""AddN."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def add_n(lowering: Lowering, node: Node) -> LiteTensor:
    """ADD_N; of one tensor, itself."""
    inputs = lowering.inputs(node)
    if len(inputs) == 1:
        return inputs[0]
    return lowering.operator(node, BuiltinOperator.ADD_N, inputs, lowering.result_shape(node))


REGISTRATIONS: dict[str, Rule] = {"AccumulateNV2": add_n, "AddN": add_n}
