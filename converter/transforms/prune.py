"""Nodes of functions that nothing uses."""

from __future__ import annotations

from ..ir.module import Function
from ..ir.node import Node
from .bodies import Body
from .purity import is_pure


def prune_unused(body: Body) -> None:
    """Drop nodes without state whose results and tokens nothing uses.

    Given:  f(a) { c = Cast(a); n = Neg(c); return(a) }
    Result: f(a) { return(a) }

    Graphs stay as they are: any of their nodes may be fetched.
    """
    if not isinstance(body, Function):
        return
    waiting = list(body.body.walk())
    while waiting:
        node = waiting.pop()
        if node.block is None or node.used or not is_pure(node):
            continue
        waiting += [v.owner for v in (*node.operands, *node.controls) if isinstance(v.owner, Node)]
        node.erase()
