"""Whether a region does what a function does."""

from __future__ import annotations

from collections.abc import Iterable

from ..ir.module import Function
from ..ir.node import CONDITION, Block, Node, Value
from ..ir.types import ElementType, TensorType, Type
from ..transforms.attribute_key import attributes_key


def same_region(region: Block, function: Function) -> bool:
    """Whether arguments, nodes and results are the same, in this order; names and shapes do not count.

    Neither may have regions inside.
    """
    half = len(region.arguments) // 2
    if half != len(function.arguments) or len(region) != len(function.body):
        return False
    values: dict[Value, Value] = {}
    for argument, token, mine in zip(
        region.arguments[:half], region.arguments[half:], function.arguments, strict=True
    ):
        if not _kin(argument.type, mine.type):
            return False
        values[argument], values[token] = mine, function.control_of(mine)
    pairs = list(zip(region, function.body, strict=True))
    for one, other in pairs[:-1]:
        if not _same_node(one, other):
            return False
        values.update(zip(one.results, other.results, strict=True))
        values[one.control] = other.control
    last, returned = pairs.pop()
    given = last.operands[:1] if last.op == CONDITION else last.operands
    uses = [(one.operands, other.operands) for one, other in pairs]
    uses += [(one.controls, other.controls) for one, other in pairs]
    uses += [(given, returned.operands), (last.controls, returned.controls)]
    return all(_same_values(one, other, values) for one, other in uses)


def _same_node(one: Node, other: Node) -> bool:
    if (one.op, one.device, one.assigned_device) != (other.op, other.device, other.assigned_device):
        return False
    if len(one.results) != len(other.results):
        return False
    if not all(_kin(a.type, b.type) for a, b in zip(one.results, other.results, strict=True)):
        return False
    return attributes_key(one.attributes) == attributes_key(other.attributes)


def _same_values(one: Iterable[Value], other: Iterable[Value], values: dict[Value, Value]) -> bool:
    return [values.get(value) for value in one] == list(other)


def _kin(one: Type, other: Type) -> bool:
    """Whether both are tensors of the same elements."""
    if not isinstance(one, TensorType) or not isinstance(other, TensorType):
        return one == other
    if isinstance(one.element, ElementType) and isinstance(other.element, ElementType):
        return one.element.name == other.element.name
    return one.element == other.element
