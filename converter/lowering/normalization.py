"""LRN: local response normalization."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator, LocalResponseNormalizationOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def lrn(lowering: Lowering, node: Node) -> LiteTensor:
    """LOCAL_RESPONSE_NORMALIZATION."""
    x = lowering.input(node, 0)
    options = LocalResponseNormalizationOptionsT(
        radius=node.integer("depth_radius"),
        bias=node.real("bias"),
        alpha=node.real("alpha"),
        beta=node.real("beta"),
    )
    return lowering.operator(node, BuiltinOperator.LOCAL_RESPONSE_NORMALIZATION, [x], x.shape, options)


REGISTRATIONS: dict[str, Rule] = {"LRN": lrn}
