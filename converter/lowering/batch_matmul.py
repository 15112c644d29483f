"""BatchMatMul in its three versions."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BatchMatMulOptionsT, BuiltinOperator, FullyConnectedOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def batch_mat_mul(lowering: Lowering, node: Node) -> LiteTensor:
    """BATCH_MATMUL, or FULLY_CONNECTED where the second operand is a constant matrix."""
    x, y = lowering.inputs(node)
    constant_matrix = y.data is not None and y.data.ndim == 2 and y.type == TensorType.FLOAT32
    if constant_matrix and not node.flag("adj_x") and x.shape is not None and len(x.shape) >= 2:
        weights = y if node.flag("adj_y") else lowering.transposed(node, y, (1, 0), "/transposed")
        dense = FullyConnectedOptionsT(keep_num_dims=True)
        shape = lowering.result_shape(node)
        return lowering.operator(node, BuiltinOperator.FULLY_CONNECTED, [x, weights, None], shape, dense)
    options = BatchMatMulOptionsT(adj_x=node.flag("adj_x"), adj_y=node.flag("adj_y"))
    inputs = lowering.inputs(node)
    return lowering.operator(node, BuiltinOperator.BATCH_MATMUL, inputs, lowering.result_shape(node), options)


REGISTRATIONS: dict[str, Rule] = {
    "BatchMatMul": batch_mat_mul,
    "BatchMatMulV2": batch_mat_mul,
    "BatchMatMulV3": batch_mat_mul,
}
