"""Shape, ShapeN, Rank, Size and BroadcastArgs."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, RankOptionsT, ReducerOptionsT, ShapeOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import cast_to
from .lowering import Lowering, Rule


def shape_of(lowering: Lowering, node: Node, x: LiteTensor, type: TensorType) -> LiteTensor:
    """SHAPE as int32 or int64."""
    shape = None if x.shape is None else (len(x.shape),)
    result = lowering.operator(
        node, BuiltinOperator.SHAPE, [x], shape, ShapeOptionsT(out_type=type), type=type
    )
    result.sizes = x.shape
    return result


def shape_rule(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """SHAPE of each input."""
    return [
        shape_of(lowering, node, x, lowering.result_type(node, i))
        for i, x in enumerate(lowering.inputs(node))
    ]


def rank(lowering: Lowering, node: Node) -> LiteTensor:
    """RANK."""
    x = lowering.input(node, 0)
    return lowering.operator(node, BuiltinOperator.RANK, [x], (), RankOptionsT(), type=TensorType.INT32)


def size(lowering: Lowering, node: Node) -> LiteTensor:
    """The product of the sizes."""
    sizes = shape_of(lowering, node, lowering.input(node, 0), TensorType.INT32)
    first = lowering.integers(lowering.name(node, "/axes"), [0])
    options = ReducerOptionsT(keep_dims=False)
    count = lowering.operator(node, BuiltinOperator.REDUCE_PROD, [sizes, first], (), options)
    return cast_to(lowering, node, count, lowering.result_type(node))


def broadcast_args(lowering: Lowering, node: Node) -> LiteTensor:
    """BROADCAST_ARGS: the shape that two shapes broadcast to."""
    inputs = lowering.inputs(node)
    return lowering.operator(node, BuiltinOperator.BROADCAST_ARGS, inputs, lowering.result_shape(node))


REGISTRATIONS: dict[str, Rule] = {
    "BroadcastArgs": broadcast_args,
    "Rank": rank,
    "Shape": shape_rule,
    "ShapeN": shape_rule,
    "Size": size,
}
