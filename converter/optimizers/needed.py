"""Which nodes a graph needs for what it preserves, and those without which it does the same."""

from __future__ import annotations

from collections.abc import Iterable

from ..ir.module import Function
from ..ir.node import TERMINATORS, Node
from ..transforms.effects import Effect, Effects
from .item import GrapplerItem


def unneeded_nodes(item: GrapplerItem) -> list[Node]:
    """The nodes that no preserved node needs; of a function those that its results do not need, and that
    have no effect. None of a graph of which nothing is preserved but its feeds.
    """
    nodes = list(item.nodes())
    if isinstance(item.body, Function):
        effects = Effects(item.module.functions)
        roots = [n for n in nodes if n.op in TERMINATORS or effects.of(n) == Effect.WRITES or _is_dataset(n)]
    else:
        preserved = item.nodes_to_preserve()
        if not preserved - item.feed_nodes():
            return []
        roots = [node for node in nodes if node.name in preserved]
    needed = _with_sources(roots)
    return [node for node in nodes if node not in needed]


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
