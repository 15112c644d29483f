"""Control edges that order nothing."""

from __future__ import annotations

from ..ir.node import TERMINATORS, Node
from .bodies import Body
from .effects import Effect, Effects
from .purity import CONTROL_FLOW


def drop_needless_controls(body: Body, effects: Effects) -> None:
    """Drop control edges between nodes that nobody can see the order of.

    Given:  c = Const(); n = NoOp() [^c]; y = Identity(x) [^n]
    Result: c = Const(); n = NoOp(); y = Identity(x)

    An edge stays where something before it changes state, or where something before it reads state and
    something behind it changes state. A body with control flow of the first version stays as it is: there
    control edges say in which loop or branch a node runs. What a function ends with stays too.
    """
    nodes = list(body.body)
    if any(node.op in CONTROL_FLOW for node in nodes):
        return
    ordered = _sorted(nodes)
    before = {node: effects.of(node) for node in nodes}
    behind = dict(before)
    for node in ordered:
        for value in (*node.operands, *node.controls):
            if isinstance(value.owner, Node):
                before[node] = max(before[node], before[value.owner])
    for node in reversed(ordered):
        for value in (*node.operands, *node.controls):
            if isinstance(value.owner, Node):
                behind[value.owner] = max(behind[value.owner], behind[node])
    for node in nodes:
        if node.controls and node.op not in TERMINATORS:
            node.controls = [
                token
                for token in dict.fromkeys(node.controls)
                if isinstance(token.owner, Node) and _orders(before[token.owner], behind[node])
            ]


def _orders(before: Effect, behind: Effect) -> bool:
    return before == Effect.WRITES or (before == Effect.READS and behind == Effect.WRITES)


def _sorted(nodes: list[Node]) -> list[Node]:
    """The nodes, each after what it uses; those of a cycle are left out."""
    waits = {
        node: sum(isinstance(value.owner, Node) for value in (*node.operands, *node.controls))
        for node in nodes
    }
    ready = [node for node in nodes if not waits[node]]
    for node in ready:
        for user in node.neighbours_behind():
            if user in waits:
                waits[user] -= 1
                if not waits[user]:
                    ready.append(user)
    return ready
