"""Copies of functions and of their nodes."""

from __future__ import annotations

from collections.abc import Callable

from ..ir.module import Function
from ..ir.node import Block, Node, Value

Rename = Callable[[str], str]


def clone_nodes(source: Block, target: Block, values: dict[Value, Value], rename: Rename = str) -> None:
    """Append copies of all nodes of the source, with those of regions, to the target.

    values say what stands for the source's arguments, and learn what stands for its other values. What
    they do not know is used as it is.
    """
    pairs: list[tuple[Node, Node]] = []
    _copy(source, target, values, rename, pairs)
    for node, copy in pairs:
        copy.operands = [values.get(value, value) for value in node.operands]
        copy.controls = [values.get(value, value) for value in node.controls]


def clone_node(node: Node, rename: Rename = str) -> Node:
    """A copy, without regions, operands and a place in a block."""
    types = [value.type for value in node.results]
    name = rename(node.name) if node.name else ""
    copy = Node(node.op, name, types, dict(node.attributes), node.device, node.assigned_device)
    copy.location, copy.line = node.location, node.line
    return copy


def _copy(
    source: Block,
    target: Block,
    values: dict[Value, Value],
    rename: Rename,
    pairs: list[tuple[Node, Node]],
) -> None:
    for node in source:
        copy = target.append(clone_node(node, rename))
        pairs.append((node, copy))
        values.update(zip(node.results, copy.results, strict=True))
        if node.has_control:
            values[node.control] = copy.control
        regions = []
        for region in node.regions:
            inner = Block(copy)
            for argument in region.arguments:
                values[argument] = inner.add_argument(argument.type)
            _copy(region, inner, values, rename, pairs)
            regions.append(inner)
        copy.regions = regions


def clone_function(function: Function) -> Function:
    copy = Function(function.name, function.generic, function.visibility)
    copy.attributes = dict(function.attributes)
    copy.argument_attributes = [dict(attributes) for attributes in function.argument_attributes]
    copy.result_types = list(function.result_types)
    copy.result_attributes = [dict(attributes) for attributes in function.result_attributes]
    copy.line = function.line
    values = {value: copy.body.add_argument(value.type) for value in function.body.arguments}
    clone_nodes(function.body, copy.body, values)
    return copy
