"""Mean over axes."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, ReducerOptionsT
from ..graph import Node
from ..lite_graph import LiteTensor, PartialShape
from .lowering import Lowering, Rule, check_type


def mean(lowering: Lowering, node: Node) -> LiteTensor:
    x = lowering.input(node, 0)
    check_type(x, TensorType.FLOAT32)
    axes = [int(axis) for axis in np.ravel(lowering.constant_input(node, 1, "axes"))]
    keep_dims = node.flag("keep_dims")
    shape = _reduced(x.shape, axes, keep_dims)
    if x.shape is not None:
        axes = sorted({axis % len(x.shape) for axis in axes})
    over = lowering.constant(f"{node.name}/axes", np.array(axes, np.int32))
    return lowering.operator(
        node, BuiltinOperator.MEAN, [x, over], shape, ReducerOptionsT(keep_dims=keep_dims)
    )


def _reduced(shape: PartialShape, axes: list[int], keep_dims: bool) -> PartialShape:
    if shape is None:
        return None
    rank = len(shape)
    if any(not -rank <= axis < rank for axis in axes):
        raise ModelError(f"axes must be {-rank} to {rank - 1}, got {axes}")
    gone = {axis % rank for axis in axes}
    if keep_dims:
        return tuple(1 if i in gone else size for i, size in enumerate(shape))
    return tuple(size for i, size in enumerate(shape) if i not in gone)


RULES: dict[str, Rule] = {"Mean": mean}
