"""Shapes of the results of nodes that stay TensorFlow ops."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..ir.node import Node
from ..lite_graph import PartialShape

if TYPE_CHECKING:
    from .lowering import Lowering


def result_shapes(lowering: Lowering, node: Node) -> list[PartialShape]:
    """What is known of the shapes of the node's results."""
    declared = node.attributes.get("_output_shapes")
    if isinstance(declared, tuple) and len(declared) == len(node.results):
        return list(node.shapes("_output_shapes"))
    return [None] * len(node.results)
