"""Slice, StridedSlice, and a slice put in place."""

from __future__ import annotations

import numpy as np

from ...schema.tflite import (
    BuiltinOperator,
    DynamicUpdateSliceOptionsT,
    GatherOptionsT,
    SliceOptionsT,
    StridedSliceOptionsT,
)
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import is_known
from .cast import as_int32
from .lowering import Lowering, Rule

_MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def slice_rule(lowering: Lowering, node: Node) -> LiteTensor:
    """SLICE from begin, of a size; -1 is up to the end. Nothing where that is all."""
    x, begin, size = lowering.inputs(node)
    if is_known(x.shape) and lowering.result_shape(node) == x.shape:
        return x
    if begin.data is not None or size.data is not None:
        begin, size = as_int32(lowering, node, begin), as_int32(lowering, node, size)
    inputs, shape = [x, begin, size], lowering.result_shape(node)
    return lowering.operator(node, BuiltinOperator.SLICE, inputs, shape, SliceOptionsT())


def strided_slice(lowering: Lowering, node: Node) -> LiteTensor:
    """STRIDED_SLICE with the node's masks; nothing where it takes all."""
    x, *bounds = lowering.inputs(node)
    steps = bounds[-1].known()
    plain = steps is not None and set(steps) == {1} and not node.integer("new_axis_mask")
    if plain and is_known(x.shape) and lowering.result_shape(node) == x.shape:
        return x
    count = next((bound.shape[0] for bound in bounds if bound.shape and is_known(bound.shape)), None)
    options = _masks(node, count)
    if count is not None:
        bounds = _without_empty_ellipsis(lowering, node, x, bounds, count, options)
    inputs = [x, *(as_int32(lowering, node, bound) for bound in bounds)]
    return lowering.operator(
        node, BuiltinOperator.STRIDED_SLICE, inputs, lowering.result_shape(node), options
    )


def _masks(node: Node, count: int | None) -> StridedSliceOptionsT:
    """The node's masks less the bits that LiteRT's operator reads, too: those that have no bound, of which
    there are so many, and of the begins those of axes that are shrunk."""
    options = StridedSliceOptionsT()
    bounded = -1 if count is None else (1 << count) - 1
    for mask in _MASKS:
        setattr(options, mask, node.integer(mask) & bounded)
    options.begin_mask &= ~options.shrink_axis_mask
    return options


def _without_empty_ellipsis(
    lowering: Lowering,
    node: Node,
    x: LiteTensor,
    bounds: list[LiteTensor],
    count: int,
    options: StridedSliceOptionsT,
) -> list[LiteTensor]:
    """The bounds and masks less an ellipsis that stands for no axis: LiteRT's operator gives it one."""
    if not options.ellipsis_mask or x.shape is None:
        return bounds
    place = options.ellipsis_mask.bit_length() - 1
    axes = sum(not options.new_axis_mask >> i & 1 for i in range(count) if i != place)
    if options.ellipsis_mask != 1 << place or place >= count or axes != len(x.shape):
        return bounds
    for mask in _MASKS:
        bits = getattr(options, mask)
        setattr(options, mask, bits & ((1 << place) - 1) | bits >> (place + 1) << place)
    left = lowering.integers(lowering.name(node, "/left"), [i for i in range(count) if i != place])

    def without(bound: LiteTensor, name: str) -> LiteTensor:
        if bound.data is not None:
            return lowering.constant(lowering.name(node, name), np.delete(bound.data, place))
        inputs = [bound, left]
        return lowering.operator(node, BuiltinOperator.GATHER, inputs, (count - 1,), GatherOptionsT())

    return [without(bound, f"/bound{i}") for i, bound in enumerate(bounds)]


def dynamic_update_slice(lowering: Lowering, node: Node) -> LiteTensor:
    """DYNAMIC_UPDATE_SLICE; a slice that would reach over the end is moved inside, as XLA does."""
    x, update, indices = lowering.inputs(node)
    inputs = [x, update, as_int32(lowering, node, indices)]
    return lowering.operator(
        node, BuiltinOperator.DYNAMIC_UPDATE_SLICE, inputs, x.shape, DynamicUpdateSliceOptionsT()
    )


REGISTRATIONS: dict[str, Rule] = {
    "Slice": slice_rule,
    "StridedSlice": strided_slice,
    "XlaDynamicUpdateSlice": dynamic_update_slice,
}
