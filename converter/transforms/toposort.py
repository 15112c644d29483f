"""Order of nodes in which each comes after what it uses."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping

from ..ir.node import TERMINATORS, Block, Node
from .bodies import Body


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
    waiting = dict.fromkeys(nodes, 0)
    users = {node: _users(node, places) for node in nodes}
    for behind in users.values():
        for user in behind:
            waiting[user] += 1
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
        for user in users[node]:
            if user in done or not waiting[user]:
                continue
            rounds[user] = max(rounds[user], rounds[node] + (places[node] > places[user]))
            waiting[user] -= 1
            if not waiting[user]:
                ready.append(user)
    nodes.sort(key=lambda node: (rounds[node], places[node]))
    end = block.terminator
    return nodes if end is None else [*nodes, end]


def _users(node: Node, places: Mapping[Node, int]) -> set[Node]:
    """The other nodes of the block that must come behind it: those that use it, or whose regions do."""
    block = node.block
    found = {user if user.block is block else _within(user, block) for user in node.neighbours_behind()}
    found.discard(node)
    closes_loops = node.op in ("NextIteration", "RefNextIteration")
    return {
        user for user in found if user in places and not (closes_loops and user.op in ("Merge", "RefMerge"))
    }


def _within(node: Node, block: Block | None) -> Node:
    """The node of the block that it is, or in whose regions it stands."""
    while node.block is not block:
        assert node.block is not None and isinstance(node.block.owner, Node)
        node = node.block.owner
    return node
