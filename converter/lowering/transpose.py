"""Transpose and InvertPermutation."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator, TransposeOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule


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


REGISTRATIONS: dict[str, Rule] = {"Transpose": transpose}
