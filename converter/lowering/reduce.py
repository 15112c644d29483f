"""Reductions over axes: Mean, Sum, Prod, Max, Min, Any, All."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...kernels.reduce import output_shape
from ...schema.tflite import BuiltinOperator, ReducerOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import inferred
from .cast import as_int32
from .lowering import Lowering, Rule


def reduced(
    lowering: Lowering, node: Node, code: BuiltinOperator, x: LiteTensor, axes: Sequence[int], keep_dims: bool
) -> LiteTensor:
    """A reduction over constant axes; nothing over none."""
    if not axes:
        return x
    shape = inferred(lambda known: output_shape(code.name, known, axes, keep_dims), x.shape)
    if x.shape is not None:
        axes = sorted({axis % len(x.shape) for axis in axes})
    over = lowering.integers(lowering.name(node, "/axes"), axes)
    return lowering.operator(node, code, [x, over], shape, ReducerOptionsT(keep_dims=keep_dims))


def _rule(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        x, axes, keep_dims = lowering.input(node, 0), lowering.input(node, 1), node.flag("keep_dims")
        if axes.data is not None:
            return reduced(lowering, node, code, x, [int(axis) for axis in np.ravel(axes.data)], keep_dims)
        shape = (-1,) * len(x.shape) if keep_dims and x.shape is not None else None
        over = as_int32(lowering, node, axes)
        return lowering.operator(node, code, [x, over], shape, ReducerOptionsT(keep_dims=keep_dims))

    return rule


REGISTRATIONS: dict[str, Rule] = {
    "All": _rule(BuiltinOperator.REDUCE_ALL),
    "Any": _rule(BuiltinOperator.REDUCE_ANY),
    "Max": _rule(BuiltinOperator.REDUCE_MAX),
    "Mean": _rule(BuiltinOperator.MEAN),
    "Min": _rule(BuiltinOperator.REDUCE_MIN),
    "Prod": _rule(BuiltinOperator.REDUCE_PROD),
    "Sum": _rule(BuiltinOperator.SUM),
}
