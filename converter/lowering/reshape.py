"""Reshape, Squeeze and ExpandDims: all of them RESHAPE where the shape is known."""

from __future__ import annotations

import numpy as np

from ...kernels.reshape import expanded, squeezed
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, ExpandDimsOptionsT, ReshapeOptionsT, SqueezeOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor, PartialShape
from ..partial_shape import inferred, reshape
from .cast import as_int32
from .lowering import Lowering, Rule


def reshaped(lowering: Lowering, node: Node, x: LiteTensor, shape: PartialShape) -> LiteTensor | None:
    """RESHAPE to a shape with at most one unknown size, x itself where it has it; None for other shapes."""
    if shape is None or shape.count(-1) > 1 or (-1 in shape and 0 in shape):
        return None
    if x.shape == shape and -1 not in shape:
        return x
    wanted = lowering.integers(lowering.name(node, "/shape"), shape)
    options = ReshapeOptionsT(new_shape=list(shape))
    return lowering.operator(node, BuiltinOperator.RESHAPE, [x, wanted], shape, options)


def reshape_rule(lowering: Lowering, node: Node) -> LiteTensor:
    """RESHAPE; to what is known of the shape where that is enough."""
    x, sizes = lowering.input(node, 0), lowering.input(node, 1)
    known = sizes.known()
    shape = lowering.result_shape(node) if known is None else reshape(x.shape, known)
    made = reshaped(lowering, node, x, shape)
    if made is not None:
        return made
    wanted = as_int32(lowering, node, sizes)
    return lowering.operator(node, BuiltinOperator.RESHAPE, [x, wanted], shape, ReshapeOptionsT())


def squeeze(lowering: Lowering, node: Node) -> LiteTensor:
    """RESHAPE, or SQUEEZE where several sizes are unknown."""
    x, axes = lowering.input(node, 0), node.integers("squeeze_dims")
    unclear = x.shape is not None and not axes and -1 in x.shape
    shape = None if unclear else _squeezed(x.shape, axes)
    options = SqueezeOptionsT(squeeze_dims=axes)
    made = reshaped(lowering, node, x, shape)
    return made or lowering.operator(node, BuiltinOperator.SQUEEZE, [x], shape, options)


def _squeezed(shape: PartialShape, axes: list[int]) -> PartialShape:
    """The shape without the axes; an unknown size there must be 1."""
    if shape is None:
        return None
    rank = len(shape)
    chosen = {axis % rank for axis in axes if -rank <= axis < rank}
    filled = tuple(1 if size == -1 and axis in chosen else size for axis, size in enumerate(shape))
    return inferred(lambda known: squeezed(known, axes), filled)


def expand_dims(lowering: Lowering, node: Node) -> LiteTensor:
    """A new axis; of a computed number by EXPAND_DIMS."""
    x, axis = lowering.input(node, 0), lowering.input(node, 1)
    if axis.data is None:
        shape = None if x.shape is None else (-1,) * (len(x.shape) + 1)
        return lowering.operator(node, BuiltinOperator.EXPAND_DIMS, [x, axis], shape, ExpandDimsOptionsT())
    [place] = lowering.integers_input(node, 1, "the axis")
    return with_axis(lowering, node, x, place)


def with_axis(lowering: Lowering, node: Node, x: LiteTensor, place: int) -> LiteTensor:
    """RESHAPE to an axis more, or EXPAND_DIMS where several sizes are unknown."""
    shape = inferred(lambda known: expanded(known, place), x.shape)
    made = reshaped(lowering, node, x, shape)
    if made is not None:
        return made
    before = lowering.constant(lowering.name(node, "/axis"), np.array(place, np.int32), TensorType.INT32)
    return lowering.operator(node, BuiltinOperator.EXPAND_DIMS, [x, before], shape, ExpandDimsOptionsT())


REGISTRATIONS: dict[str, Rule] = {"ExpandDims": expand_dims, "Reshape": reshape_rule, "Squeeze": squeeze}
