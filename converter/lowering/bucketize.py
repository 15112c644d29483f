"""Bucketize."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BucketizeOptionsT, BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def bucketize(lowering: Lowering, node: Node) -> LiteTensor:
    """BUCKETIZE by boundaries that the node holds."""
    x = lowering.input(node, 0)
    options = BucketizeOptionsT(boundaries=node.reals("boundaries"))
    return lowering.operator(node, BuiltinOperator.BUCKETIZE, [x], x.shape, options, type=TensorType.INT32)


REGISTRATIONS: dict[str, Rule] = {"Bucketize": bucketize}
