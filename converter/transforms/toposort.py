"""Order of nodes in which each comes after what it uses."""

from __future__ import annotations

from collections import deque

from ..ir.node import TERMINATORS, Block, Node, Value
from .bodies import Body, operands_inside


def toposort(body: Body) -> None:
    """Put each node after the nodes that it uses; regions stay as they are.

    Given:  a = Add(b, b); b = Neg(x); x = Placeholder
    Result: x = Placeholder; b = Neg(x); a = Add(b, b)

    Nodes are taken in their order, those that are ready, again and again until none is left. An edge
    from NextIteration to Merge, which closes a loop, does not count. On another cycle the first of its
    nodes goes first.
    Source: TensorFlow core/transforms/toposort, whose result is the same.
    """
    block = body.body
    order = topological_order(block)
    last = block.last if block.last is not None and block.last.op in TERMINATORS else None
    for node in order:
        if node is not last:
            block.remove(node)
            if last is None:
                block.append(node)
            else:
                block.insert_before(last, node)


def topological_order(block: Block) -> list[Node]:
    """The nodes in the order of toposort; a terminator is last."""
    nodes = [node for node in block if node.op not in TERMINATORS]
    places = {node: i for i, node in enumerate(nodes)}
    users: dict[Node, list[Node]] = {}
    waiting: dict[Node, int] = {}
    for node in nodes:
        sources = {source for value in operands_inside(node) if (source := _source(value, node, places))}
        waiting[node] = len(sources)
        for source in sources:
            users.setdefault(source, []).append(node)
    rounds = dict.fromkeys(nodes, 0)
    ready = deque(node for node in nodes if not waiting[node])
    unbroken = iter(nodes)
    done: set[Node] = set()
    latest = 0
    while len(done) < len(nodes):
        if not ready:
            # A cycle: its first node is taken as if it were ready, after all that are.
            first = next(node for node in unbroken if node not in done)
            waiting[first], rounds[first] = 0, latest + 1
            ready.append(first)
        node = ready.popleft()
        done.add(node)
        latest = max(latest, rounds[node])
        for user in users.get(node, ()):
            if user in done or not waiting[user]:
                continue
            rounds[user] = max(rounds[user], rounds[node] + (places[node] > places[user]))
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    nodes.sort(key=lambda node: (rounds[node], places[node]))
    end = block.terminator
    return nodes if end is None else [*nodes, end]


def _source(value: Value, user: Node, places: dict[Node, int]) -> Node | None:
    """The node of the block that must come first, None when there is none."""
    owner = value.owner
    if not isinstance(owner, Node) or owner is user or owner not in places:
        return None
    if user.op in ("Merge", "RefMerge") and owner.op in ("NextIteration", "RefNextIteration"):
        return None
    return owner
