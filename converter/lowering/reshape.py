"""Reshape."""

from __future__ import annotations

import numpy as np

from ...schema.tflite import BuiltinOperator, ReshapeOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import reshape
from .lowering import Lowering, Rule


def reshape_rule(lowering: Lowering, node: Node) -> LiteTensor:
    """RESHAPE to a constant shape."""
    x = lowering.input(node, 0)
    sizes = [int(size) for size in np.ravel(lowering.constant_input(node, 1, "the shape"))]
    wanted = lowering.constant(lowering.name(node, "/shape"), np.array(sizes, np.int32))
    options = ReshapeOptionsT(new_shape=sizes)
    shape = reshape(x.shape, sizes)
    return lowering.operator(node, BuiltinOperator.RESHAPE, [x, wanted], shape, options)


RULES: dict[str, Rule] = {"Reshape": reshape_rule}
