"""Operands that are made one shape before an operator that does not broadcast, as Atan2."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BroadcastToOptionsT, BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import broadcast, is_known
from .binary import binary
from .lowering import Lowering, Rule
from .shape import shape_of


def spread_to_one(
    lowering: Lowering, node: Node, a: LiteTensor, b: LiteTensor
) -> tuple[LiteTensor, LiteTensor]:
    """Two tensors as they broadcast against each other; only a run may tell to which shape."""
    if a.shape == b.shape and a.shape is not None and is_known(a.shape):
        return a, b
    shape = broadcast(node.op, a.shape, b.shape)
    if shape is not None and is_known(shape):
        sizes = lowering.integers(lowering.name(node, "/sizes"), shape)
    else:
        shapes = [shape_of(lowering, node, x, TensorType.INT32) for x in (a, b)]
        rank = None if shape is None else (len(shape),)
        sizes = lowering.operator(node, BuiltinOperator.BROADCAST_ARGS, shapes, rank)

    def spread(x: LiteTensor) -> LiteTensor:
        if x.shape == shape and shape is not None and is_known(shape):
            return x
        options = BroadcastToOptionsT()
        return lowering.operator(node, BuiltinOperator.BROADCAST_TO, [x, sizes], shape, options)

    return spread(a), spread(b)


def atan2(lowering: Lowering, node: Node) -> LiteTensor:
    """ATAN2."""
    a, b = spread_to_one(lowering, node, lowering.input(node, 0), lowering.input(node, 1))
    return binary(lowering, node, BuiltinOperator.ATAN2, a, b)


REGISTRATIONS: dict[str, Rule] = {"Atan2": atan2}
