"""GatherNd: elements or slices by tuples of indices."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator, GatherNdOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def gather_nd(lowering: Lowering, node: Node) -> LiteTensor:
    """GATHER_ND."""
    inputs = lowering.inputs(node)
    return lowering.operator(
        node, BuiltinOperator.GATHER_ND, inputs, lowering.result_shape(node), GatherNdOptionsT()
    )


REGISTRATIONS: dict[str, Rule] = {"GatherNd": gather_nd}
