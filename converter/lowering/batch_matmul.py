"""BatchMatMul in its three versions."""

from __future__ import annotations

from ...schema.tflite import BatchMatMulOptionsT, BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def batch_mat_mul(lowering: Lowering, node: Node) -> LiteTensor:
    """BATCH_MATMUL."""
    options = BatchMatMulOptionsT(adj_x=node.flag("adj_x"), adj_y=node.flag("adj_y"))
    inputs = lowering.inputs(node)
    return lowering.operator(node, BuiltinOperator.BATCH_MATMUL, inputs, lowering.result_shape(node), options)


RULES: dict[str, Rule] = {
    "BatchMatMul": batch_mat_mul,
    "BatchMatMulV2": batch_mat_mul,
    "BatchMatMulV3": batch_mat_mul,
}
