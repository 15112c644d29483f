"""LogicalNot; the other logic is binary."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator, LogicalNotOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def logical_not(lowering: Lowering, node: Node) -> LiteTensor:
    """LOGICAL_NOT."""
    x = lowering.input(node, 0)
    return lowering.operator(node, BuiltinOperator.LOGICAL_NOT, [x], x.shape, LogicalNotOptionsT())


REGISTRATIONS: dict[str, Rule] = {"LogicalNot": logical_not}
