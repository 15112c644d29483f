"""DepthToSpace and SpaceToDepth."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from ...schema.tflite import BuiltinOperator, DepthToSpaceOptionsT, SpaceToDepthOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def _block_size(node: Node) -> int:
    if node.text("data_format") != "NHWC":
        raise UnsupportedError(f"data_format {node.text('data_format')} is not built, NHWC is")
    return node.integer("block_size")


def depth_to_space(lowering: Lowering, node: Node) -> LiteTensor:
    """DEPTH_TO_SPACE."""
    options = DepthToSpaceOptionsT(block_size=_block_size(node))
    inputs, shape = lowering.inputs(node), lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.DEPTH_TO_SPACE, inputs, shape, options)


def space_to_depth(lowering: Lowering, node: Node) -> LiteTensor:
    """SPACE_TO_DEPTH."""
    options = SpaceToDepthOptionsT(block_size=_block_size(node))
    inputs, shape = lowering.inputs(node), lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.SPACE_TO_DEPTH, inputs, shape, options)


REGISTRATIONS: dict[str, Rule] = {"DepthToSpace": depth_to_space, "SpaceToDepth": space_to_depth}
