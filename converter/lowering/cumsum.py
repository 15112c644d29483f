"""Cumsum."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator, CumsumOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule


def cumsum(lowering: Lowering, node: Node) -> LiteTensor:
    """CUMSUM along an axis."""
    x, axis = lowering.inputs(node)
    options = CumsumOptionsT(exclusive=node.flag("exclusive"), reverse=node.flag("reverse"))
    return lowering.operator(
        node, BuiltinOperator.CUMSUM, [x, as_int32(lowering, node, axis)], x.shape, options
    )


REGISTRATIONS: dict[str, Rule] = {"Cumsum": cumsum}
