"""Tile, BroadcastTo and Transpose: copies and moves of whole tensors."""

from __future__ import annotations

from ...schema.tflite import BroadcastToOptionsT, BuiltinOperator, TileOptionsT, TransposeOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule


def tile(lowering: Lowering, node: Node) -> LiteTensor:
    """TILE; nothing where every axis is wanted once."""
    inputs = lowering.inputs(node)
    known = inputs[1].known()
    if known is not None and all(count == 1 for count in known):
        return inputs[0]
    return lowering.operator(node, BuiltinOperator.TILE, inputs, lowering.result_shape(node), TileOptionsT())


def broadcast_to(lowering: Lowering, node: Node) -> LiteTensor:
    """BROADCAST_TO; nothing where the shape is there already."""
    x, sizes = lowering.inputs(node)
    if x.shape is not None and -1 not in x.shape and sizes.known() == x.shape:
        return x
    return lowering.operator(
        node, BuiltinOperator.BROADCAST_TO, [x, sizes], lowering.result_shape(node), BroadcastToOptionsT()
    )


def transpose(lowering: Lowering, node: Node) -> LiteTensor:
    """TRANSPOSE; nothing where the order is that of the axes already."""
    x, order = lowering.input(node, 0), lowering.input(node, 1)
    known = order.known()
    if known is not None and list(known) == list(range(len(known))):
        return x
    inputs = [x, as_int32(lowering, node, order)]
    return lowering.operator(
        node, BuiltinOperator.TRANSPOSE, inputs, lowering.result_shape(node), TransposeOptionsT()
    )


REGISTRATIONS: dict[str, Rule] = {"BroadcastTo": broadcast_to, "Tile": tile, "Transpose": transpose}
