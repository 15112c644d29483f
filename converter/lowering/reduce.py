"""Mean over axes."""

from __future__ import annotations

import numpy as np

from ...kernels.reduce import output_shape
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, ReducerOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import inferred
from .lowering import Lowering, Rule, check_type


def mean(lowering: Lowering, node: Node) -> LiteTensor:
    """MEAN over constant axes."""
    x = lowering.input(node, 0)
    check_type(x, TensorType.FLOAT32)
    axes = [int(axis) for axis in np.ravel(lowering.constant_input(node, 1, "axes"))]
    keep_dims = node.flag("keep_dims")
    shape = inferred(lambda known: output_shape("MEAN", known, axes, keep_dims), x.shape)
    if x.shape is not None:
        axes = sorted({axis % len(x.shape) for axis in axes})
    over = lowering.constant(lowering.name(node, "/axes"), np.array(axes, np.int32))
    return lowering.operator(
        node, BuiltinOperator.MEAN, [x, over], shape, ReducerOptionsT(keep_dims=keep_dims)
    )


RULES: dict[str, Rule] = {"Mean": mean}
