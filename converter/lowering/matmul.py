"""MatMul and BatchMatMul: products of matrices."""

from __future__ import annotations

from ...kernels.contraction.geometry import fully_connected_geometry
from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BatchMatMulOptionsT, BuiltinOperator, FullyConnectedOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import inferred, is_known
from .cast import cast_to
from .lowering import Lowering, Rule, check_type


def mat_mul(lowering: Lowering, node: Node) -> LiteTensor:
    """FULLY_CONNECTED with a constant matrix, BATCH_MATMUL otherwise; either may be transposed."""
    return _product(lowering, node, lowering.input(node, 0), lowering.input(node, 1))


def sparse_mat_mul(lowering: Lowering, node: Node) -> LiteTensor:
    """MatMul: that there may be many zeros is but a hint. bfloat16 is widened."""
    a, b = (cast_to(lowering, node, x, TensorType.FLOAT32) for x in lowering.inputs(node))
    return _product(lowering, node, a, b)


def _product(lowering: Lowering, node: Node, a: LiteTensor, b: LiteTensor) -> LiteTensor:
    check_type(a, TensorType.FLOAT32)
    check_type(b, TensorType.FLOAT32)
    for operand in (a, b):
        if operand.shape is not None and len(operand.shape) != 2:
            raise ModelError(f"operands must be matrices, got {operand!r}")
    if b.data is None:
        options = BatchMatMulOptionsT(adj_x=node.flag("transpose_a"), adj_y=node.flag("transpose_b"))
        shape = lowering.result_shape(node)
        return lowering.operator(node, BuiltinOperator.BATCH_MATMUL, [a, b], shape, options)
    if node.flag("transpose_a"):
        a = lowering.transposed(node, a, (1, 0), "/a_transposed")
    if not node.flag("transpose_b"):
        b = lowering.transposed(node, b, (1, 0), "/transposed")
    if b.shape is None or not is_known(b.shape):
        raise UnsupportedError("the second operand's shape must be known")
    units, depth = b.shape
    if a.shape is not None and a.shape[1] not in (-1, depth):
        raise ModelError(f"depths of the operands must agree, got {a!r} and {b!r}")
    fixed = None if a.shape is None else (a.shape[0], depth)
    shape = inferred(lambda known: fully_connected_geometry(False, known, (units, depth))[1], fixed)
    return lowering.operator(
        node, BuiltinOperator.FULLY_CONNECTED, [a, b, None], shape, FullyConnectedOptionsT()
    )


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
    "MatMul": mat_mul,
    "BatchMatMul": batch_mat_mul,
    "BatchMatMulV2": batch_mat_mul,
    "BatchMatMulV3": batch_mat_mul,
    "SparseMatMul": sparse_mat_mul,
}
