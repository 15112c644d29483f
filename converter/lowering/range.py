"""Range."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator, RangeOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def range_rule(lowering: Lowering, node: Node) -> LiteTensor:
    """RANGE from start to before limit in steps."""
    inputs = lowering.inputs(node)
    return lowering.operator(
        node, BuiltinOperator.RANGE, inputs, lowering.result_shape(node) or (-1,), RangeOptionsT()
    )


REGISTRATIONS: dict[str, Rule] = {"Range": range_rule}
