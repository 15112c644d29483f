"""Lists that a loop may find empty are led by two elements that count for nothing.

LiteRT's WHILE cannot copy tensors without elements where a shape changes from turn to turn. One element
would do, but for a loop without turns: its body is prepared all the same, and may take one off. Outside
of the loop, and for the nodes of its body, the list is what it was.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema.tflite import BuiltinOperator, ConcatenationOptionsT, StridedSliceOptionsT
from ..element_types import numpy_dtype_of
from ..ir.node import Node
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor, PartialShape
from ..partial_shape import is_known
from .lowering import Lowering

_LEADING = 2


def may_be_empty(lowering: Lowering, operand: LiteTensor, shape: PartialShape, handed_on: LiteTensor) -> bool:
    """Whether a loop variable of that shape, of open length, begins or ends without elements.

    It begins so, is a list that another loop left, or the body takes elements off its end.
    """
    if not shape or shape[0] != -1 or not is_known(shape[1:]) or 0 in shape:
        return False
    is_empty = operand.data is not None and operand.shape is not None and operand.shape[0] == 0
    if is_empty or operand in lowering.program.whole_lists:
        return True
    made = handed_on.producer
    return made is not None and _takes_last(made)


def led(lowering: Lowering, node: Node, held: LiteTensor) -> LiteTensor:
    """The list behind elements of zeros."""
    whole = lowering.program.whole_lists.get(held)
    if whole is not None:
        return whole
    assert held.shape is not None
    first = np.zeros((_LEADING, *held.shape[1:]), numpy_dtype_of(held.type))
    if held.data is not None:
        name = f"{held.name}/led"
        return lowering.constant(name, np.concatenate([first, held.data]), held.type)
    zeros = lowering.constant(lowering.name(node, "/first"), first, held.type)
    shape = (-1, *held.shape[1:])
    options = ConcatenationOptionsT(axis=0)
    return lowering.operator(node, BuiltinOperator.CONCATENATION, [zeros, held], shape, options)


def without_leading(lowering: Lowering, node: Node, whole: LiteTensor, name: str) -> LiteTensor:
    """The list that is behind the leading elements."""
    begin, end, step = (lowering.integers(lowering.name(node, f"/{n}"), [n]) for n in (_LEADING, 0, 1))
    held = LiteTensor(name, whole.type, whole.shape)
    options = StridedSliceOptionsT(end_mask=1)
    lowering.add(node, BuiltinOperator.STRIDED_SLICE, [whole, begin, end, step], [held], options)
    lowering.program.whole_lists[held] = whole
    return held


def lead_on(lowering: Lowering, node: Node, graph: LiteGraph, place: int) -> None:
    """Let the body hand on, at that place of its outputs, the list behind the leading elements.

    Where all its nodes look at the end of the list only, they work on the list with those.
    """
    whole = graph.inputs[place]
    lists = lowering.program.whole_lists
    held = next((t for user in whole.users for t in user.results if lists.get(t) is whole), None)
    outputs = list(graph.outputs)
    handed_on = outputs[place]
    if held is not None and _looks_at_end(graph, held, handed_on):
        held.replace_all_uses_with(whole)
        return
    outputs[place] = led(lowering, node, handed_on)
    graph.outputs = outputs


def _looks_at_end(graph: LiteGraph, held: LiteTensor, handed_on: LiteTensor) -> bool:
    """Whether elements are put or taken off behind the list, and nothing else is done with it."""
    lasts = [user for user in held.users if _is_last(user, held)]
    for user in held.users:
        if _appends(user, held) or _takes_last(user):
            if not _looks_at_end(graph, user.result, handed_on):
                return False
        elif user in lasts or _measures(user, lasts):
            continue
        elif held is not handed_on or not graph.gives(held):
            return False
    return held is handed_on or not graph.gives(held)


def _appends(operator: LiteOperator, held: LiteTensor) -> bool:
    return (
        operator.code == BuiltinOperator.CONCATENATION
        and isinstance(operator.options, ConcatenationOptionsT)
        and operator.options.axis == 0
        and operator.operands[0] is held
        and all(other is not held for other in operator.operands[1:])
    )


def _takes_last(operator: LiteOperator) -> bool:
    """STRIDED_SLICE of all but the last element."""
    if operator.code != BuiltinOperator.STRIDED_SLICE or not isinstance(
        operator.options, StridedSliceOptionsT
    ):
        return False
    masks = operator.options.begin_mask, operator.options.end_mask
    return masks == (1, 0) and _is(operator, 2, -1) and _is(operator, 3, 1)


def _is_last(operator: LiteOperator, held: LiteTensor) -> bool:
    """GATHER at the length less 1."""
    place = operator.producer(1) if operator.code == BuiltinOperator.GATHER else None
    if place is None or place.code != BuiltinOperator.ADD or not _is(place, 1, -1):
        return False
    length = place.producer(0)
    if length is None or length.code != BuiltinOperator.GATHER or not _is(length, 1, 0):
        return False
    sizes = length.producer(0)
    return sizes is not None and sizes.code == BuiltinOperator.SHAPE and sizes.operand(0) is held


def _measures(operator: LiteOperator, lasts: Sequence[LiteOperator]) -> bool:
    """Whether the SHAPE is of use only for places of last elements."""
    if operator.code != BuiltinOperator.SHAPE:
        return False
    steps = [operator]
    for _ in range(2):
        steps = [user for step in steps for user in step.result.users]
    return all(user in lasts for step in steps for user in step.result.users)


def _is(operator: LiteOperator, place: int, number: int) -> bool:
    data = operator.constant(place)
    return data is not None and data.size == 1 and data.reshape(-1)[0] == number
