"""Bodies of a module: its graphs and functions, and which token goes with which value."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from ..ir.module import Function, Graph, Module
from ..ir.node import Node, Value

Body: TypeAlias = Graph | Function


def bodies(module: Module) -> Iterator[Body]:
    """All graphs and functions, in order."""
    for op in module.ops:
        if isinstance(op, Module):
            yield from bodies(op)
        else:
            yield op


def typed_bodies(module: Module) -> Iterator[Body]:
    """All but the generic functions, whose values have no types."""
    return (body for body in bodies(module) if not (isinstance(body, Function) and body.generic))


def token_of(value: Value) -> Value:
    """The control token of the node or argument that gives a data value."""
    owner = value.owner
    if isinstance(owner, Node):
        return owner.control
    if isinstance(owner.owner, Function):
        return owner.arguments[value.index + 1]
    # A region has its tokens behind its data.
    return owner.arguments[value.index + len(owner.arguments) // 2]


def data_of(token: Value) -> Value | None:
    """A data value that comes with a control token, None for a node without results."""
    owner = token.owner
    if isinstance(owner, Node):
        return owner.results[0] if owner.results else None
    if isinstance(owner.owner, Function):
        return owner.arguments[token.index - 1]
    return owner.arguments[token.index - len(owner.arguments) // 2]


def operands_inside(node: Node) -> Iterator[Value]:
    """All values that the node and the nodes of its regions use, those of the regions first."""
    for region in node.regions:
        for inner in region:
            yield from operands_inside(inner)
    yield from node.operands
    yield from node.controls
