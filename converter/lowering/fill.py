"""Fill, ZerosLike, OnesLike and OneHot."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, FillOptionsT, OneHotOptionsT, ShapeOptionsT, ZerosLikeOptionsT
from ..element_types import numpy_dtype_of
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..operator_types import is_converted_for
from ..partial_shape import is_known
from .lowering import Lowering, Rule, check_type

# A constant of more bytes than this is made when the model runs.
_MOST_BYTES = 1 << 16


def filled(
    lowering: Lowering, node: Node, sizes: LiteTensor, value: LiteTensor, shape: tuple[int, ...] | None
) -> LiteTensor:
    """FILL, or BROADCAST_TO for the types that only that takes."""
    if not is_converted_for(BuiltinOperator.FILL, value.type):
        return lowering.operator(node, BuiltinOperator.BROADCAST_TO, [value, sizes], shape)
    return lowering.operator(
        node, BuiltinOperator.FILL, [sizes, value], shape, FillOptionsT(), type=value.type
    )


def fill(lowering: Lowering, node: Node) -> LiteTensor:
    """A tensor of one scalar; itself where it has no sizes."""
    sizes, value = lowering.inputs(node)
    shape = lowering.result_shape(node)
    return value if shape == value.shape == () else filled(lowering, node, sizes, value, shape)


def zeros_like(lowering: Lowering, node: Node) -> LiteTensor:
    """A constant where the shape is known, else ZEROS_LIKE, or FILL for the types that it does not take."""
    x = lowering.input(node, 0)
    if not is_converted_for(BuiltinOperator.ZEROS_LIKE, x.type):
        return _filled_like(lowering, node, x, 0)
    return _constant_like(lowering, node, x, 0) or lowering.operator(
        node, BuiltinOperator.ZEROS_LIKE, [x], x.shape, ZerosLikeOptionsT()
    )


def ones_like(lowering: Lowering, node: Node) -> LiteTensor:
    """A constant where the shape is known, else FILL of the operand's shape."""
    return _filled_like(lowering, node, lowering.input(node, 0), 1)


def _filled_like(lowering: Lowering, node: Node, x: LiteTensor, value: int) -> LiteTensor:
    made = _constant_like(lowering, node, x, value)
    if made is not None:
        return made
    sizes = lowering.operator(
        node,
        BuiltinOperator.SHAPE,
        [x],
        None if x.shape is None else (len(x.shape),),
        ShapeOptionsT(out_type=TensorType.INT32),
        type=TensorType.INT32,
    )
    return filled(lowering, node, sizes, lowering.scalar(lowering.name(node, "/value"), value, x), x.shape)


def _constant_like(lowering: Lowering, node: Node, x: LiteTensor, value: int) -> LiteTensor | None:
    if x.shape is None or not is_known(x.shape):
        return None
    dtype = numpy_dtype_of(x.type)
    if dtype.kind == "O" or int(np.prod(x.shape, dtype=np.int64)) * dtype.itemsize > _MOST_BYTES:
        return None
    return lowering.constant(lowering.name(node), np.full(x.shape, value, dtype), x.type)


def one_hot(lowering: Lowering, node: Node) -> LiteTensor:
    """ONE_HOT along an axis."""
    options = OneHotOptionsT(axis=node.integer("axis"))
    inputs = lowering.inputs(node)
    check_type(inputs[0], TensorType.INT32, TensorType.INT64)
    return lowering.operator(
        node, BuiltinOperator.ONE_HOT, inputs, lowering.result_shape(node), options, type=inputs[2].type
    )


REGISTRATIONS: dict[str, Rule] = {
    "Fill": fill,
    "OneHot": one_hot,
    "OnesLike": ones_like,
    "ZerosLike": zeros_like,
}
