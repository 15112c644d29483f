"""The shape of a list's elements, as the body of the loop that puts them in tells it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, GatherOptionsT
from ..ir.node import Node
from ..lite_graph import LiteGraph, LiteTensor
from ..size_source import size_source
from .lowering import Lowering
from .shape import shape_of
from .tensor_list import ReservedList

# The operand of what puts an element in that is the element.
_ELEMENT = {BuiltinOperator.DYNAMIC_UPDATE_SLICE: 1, BuiltinOperator.SELECT_V2: 1}


def lists_are_told(lowering: Lowering, node: Node, operands: list[LiteTensor], body: LiteGraph) -> bool:
    """Make the loop's lists whose elements' shape its body tells; whether there was one."""
    told = False
    for i, (operand, y) in enumerate(zip(list(operands), body.outputs, strict=True)):
        if isinstance(operand, ReservedList) and y.shape:
            sizes = _sizes(lowering, node, operands, body, y) if -1 in y.shape[1:] else None
            operands[i] = operand.of(lowering, y.shape[1:], sizes)
            told = True
    return told


def _sizes(
    lowering: Lowering, node: Node, operands: Sequence[LiteTensor], body: LiteGraph, y: LiteTensor
) -> list[LiteTensor] | None:
    """The sizes of the elements of a list that the body gives, from what the loop begins with."""
    put = y.producer
    if put is None or put.code not in _ELEMENT:
        return None
    element, found = put.operand(_ELEMENT[put.code]), []
    if element.shape is None:
        return None
    for axis, size in enumerate(element.shape[1:], 1):
        if size != -1:
            found.append(lowering.integers(lowering.name(node, "/size"), [size]))
            continue
        made = _size(lowering, node, operands, body, element, axis)
        if made is None:
            return None
        found.append(made)
    return found


def _size(
    lowering: Lowering,
    node: Node,
    operands: Sequence[LiteTensor],
    body: LiteGraph,
    element: LiteTensor,
    axis: int,
) -> LiteTensor | None:
    """One size, where it is that of a loop variable which keeps it."""
    source = size_source(element, axis, body.inputs)
    if source is None:
        return None
    place = body.inputs.index(source[0])
    operand, handed_on = operands[place], body.outputs[place]
    keeps = handed_on is source[0] or _keeps(handed_on, source, body)
    if not keeps or not operand.shape or isinstance(operand, ReservedList):
        return None
    sizes = shape_of(lowering, node, operand, TensorType.INT32)
    which = lowering.constant(lowering.name(node, "/axis"), np.array([source[1]], np.int32))
    return lowering.operator(node, BuiltinOperator.GATHER, [sizes, which], (1,), GatherOptionsT())


def _keeps(handed_on: LiteTensor, source: tuple[LiteTensor, int], body: LiteGraph) -> bool:
    """Whether what a turn hands on has the size that it was given."""
    if handed_on.shape is None or len(handed_on.shape) <= source[1]:
        return False
    return size_source(handed_on, source[1], body.inputs) == source
