"""Which nodes a graph needs for what it preserves, and those without which it does the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..ir.module import Function
from ..ir.node import Node, Value
from ..transforms.effects import Effect, Effects
from .item import GrapplerItem


def unneeded_nodes(item: GrapplerItem) -> list[Node]:
    """The nodes that no preserved node needs; of a function those that its results do not need, and that
    have no effect. None of a graph of which nothing is preserved but its feeds.
    """
    if isinstance(item.body, Function):
        return unneeded_of_function(item.body, item.module.functions)
    preserved = item.nodes_to_preserve()
    if not preserved - item.feed_nodes():
        return []
    needed = _with_sources(node for node in item.nodes() if node.name in preserved)
    return [node for node in item.nodes() if node not in needed]


def unneeded_of_function(function: Function, functions: Mapping[str, Function]) -> list[Node]:
    """The nodes of a function that its results do not need, and that have no effect."""
    end = function.terminator
    needed = needed_of_function(function, functions, () if end is None else end.operands)
    return [node for node in function.body if node not in needed and node is not end]


def needed_of_function(
    function: Function, functions: Mapping[str, Function], results: Iterable[Value]
) -> set[Node]:
    """The nodes of a function that these of its results need, its control results, and those with effects
    and datasets.
    """
    effects = Effects(functions)
    end = function.terminator
    controls = () if end is None else end.controls
    roots = [value.owner for value in (*results, *controls) if isinstance(value.owner, Node)]
    inner = (node for node in function.body if node is not end)
    roots += [node for node in inner if effects.of(node) == Effect.WRITES or _is_dataset(node)]
    return _with_sources(roots)


def drop(nodes: Iterable[Node]) -> None:
    """Take nodes out that only they themselves use."""
    gone = list(nodes)
    for node in gone:
        node.drop_operands()
    for node in gone:
        node.erase()


def _with_sources(roots: Iterable[Node]) -> set[Node]:
    found: set[Node] = set()
    waiting = list(roots)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.neighbours_before()
            for region in node.regions:
                waiting += region.walk()
    return found


def _is_dataset(node: Node) -> bool:
    return "Dataset" in node.op or "Iterator" in node.op
