"""Shape, ShapeN, Rank, Size and BroadcastArgs."""

from __future__ import annotations

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import (
    BuiltinOperator,
    GatherOptionsT,
    RangeOptionsT,
    RankOptionsT,
    ReducerOptionsT,
    ShapeOptionsT,
)
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .binary import binary
from .cast import cast_to
from .lowering import Lowering, Rule


def shape_of(lowering: Lowering, node: Node, x: LiteTensor, type: TensorType) -> LiteTensor:
    """SHAPE as int32 or int64."""
    shape = None if x.shape is None else (len(x.shape),)
    result = lowering.operator(
        node, BuiltinOperator.SHAPE, [x], shape, ShapeOptionsT(out_type=type), type=type
    )
    result.sizes = x.shape
    return result


def size_along(lowering: Lowering, node: Node, x: LiteTensor, axis: int) -> LiteTensor:
    """The size of an axis, an int32 scalar."""
    assert x.shape is not None
    at = lowering.constant(lowering.name(node, "/axis"), np.array(axis % len(x.shape), np.int32))
    sizes = shape_of(lowering, node, x, TensorType.INT32)
    return lowering.operator(node, BuiltinOperator.GATHER, [sizes, at], (), GatherOptionsT())


def places_along(lowering: Lowering, node: Node, x: LiteTensor, axis: int) -> LiteTensor:
    """0, 1 and so on along an axis, int32."""
    assert x.shape is not None
    if x.shape[axis] != -1:
        return lowering.constant(lowering.name(node, "/places"), np.arange(x.shape[axis], dtype=np.int32))
    zero, one = (lowering.constant(lowering.name(node, f"/{n}"), np.array(n, np.int32)) for n in (0, 1))
    bounds = [zero, size_along(lowering, node, x, axis), one]
    return lowering.operator(node, BuiltinOperator.RANGE, bounds, (-1,), RangeOptionsT())


def shape_rule(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """SHAPE of each input."""
    return [
        shape_of(lowering, node, x, lowering.result_type(node, i))
        for i, x in enumerate(lowering.inputs(node))
    ]


def rank(lowering: Lowering, node: Node) -> LiteTensor:
    """RANK."""
    x = lowering.input(node, 0)
    return lowering.operator(node, BuiltinOperator.RANK, [x], (), RankOptionsT(), type=TensorType.INT32)


def size(lowering: Lowering, node: Node) -> LiteTensor:
    """The product of the sizes."""
    return cast_to(lowering, node, _count(lowering, node), lowering.result_type(node))


def _count(lowering: Lowering, node: Node) -> LiteTensor:
    sizes = shape_of(lowering, node, lowering.input(node, 0), TensorType.INT32)
    first = lowering.integers(lowering.name(node, "/axes"), [0])
    options = ReducerOptionsT(keep_dims=False)
    return lowering.operator(node, BuiltinOperator.REDUCE_PROD, [sizes, first], (), options)


def to_bool(lowering: Lowering, node: Node) -> LiteTensor:
    """Whether a scalar is not 0; of other ranks, whether there are elements."""
    x = lowering.input(node, 0)
    if x.shape is None:
        raise UnsupportedError("the rank must be known")
    judged = _count(lowering, node) if x.shape else x
    if judged.type == TensorType.BOOL:
        return judged
    zero = lowering.scalar(lowering.name(node, "/zero"), 0, judged)
    return binary(lowering, node, BuiltinOperator.NOT_EQUAL, judged, zero)


def broadcast_args(lowering: Lowering, node: Node) -> LiteTensor:
    """BROADCAST_ARGS: the shape that two shapes broadcast to."""
    inputs = lowering.inputs(node)
    return lowering.operator(node, BuiltinOperator.BROADCAST_ARGS, inputs, lowering.result_shape(node))


REGISTRATIONS: dict[str, Rule] = {
    "BroadcastArgs": broadcast_args,
    "Rank": rank,
    "Shape": shape_rule,
    "ShapeN": shape_rule,
    "Size": size,
    "ToBool": to_bool,
}
