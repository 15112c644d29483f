"""ResizeBilinear and ResizeNearestNeighbor."""

from __future__ import annotations

from ...schema.tflite import (
    BuiltinOperator,
    ResizeBilinearOptionsT,
    ResizeNearestNeighborOptionsT,
)
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def resize_bilinear(lowering: Lowering, node: Node) -> LiteTensor:
    """RESIZE_BILINEAR."""
    options = ResizeBilinearOptionsT(
        align_corners=node.flag("align_corners"), half_pixel_centers=node.flag("half_pixel_centers")
    )
    inputs, shape = lowering.inputs(node), lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.RESIZE_BILINEAR, inputs, shape, options)


def resize_nearest_neighbor(lowering: Lowering, node: Node) -> LiteTensor:
    """RESIZE_NEAREST_NEIGHBOR."""
    options = ResizeNearestNeighborOptionsT(
        align_corners=node.flag("align_corners"), half_pixel_centers=node.flag("half_pixel_centers")
    )
    inputs, shape = lowering.inputs(node), lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.RESIZE_NEAREST_NEIGHBOR, inputs, shape, options)


REGISTRATIONS: dict[str, Rule] = {
    "ResizeBilinear": resize_bilinear,
    "ResizeNearestNeighbor": resize_nearest_neighbor,
}
