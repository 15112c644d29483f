"""Control edges that order nothing: those from constants, twice the same, and from what is waited for
anyway.
"""

from __future__ import annotations

from ..graph.rule import rule
from ..ir.node import TERMINATORS, Node
from .rewriter import OptimizingRewriter

_SWITCHES = ("Switch", "RefSwitch", "_SwitchN")


@rule()
def drop_needless_controls(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A node waits for no constant: one that waits for nothing has always run.

    Given:  c = Const; y = Neg(x) [^c, ^x, ^z, ^z]
    Result: y = Neg(x) [^z]
    """
    if not node.controls or node.op in TERMINATORS:
        return False
    sources = {value.owner for value in node.operands}
    kept = [
        token
        for token in dict.fromkeys(node.controls)
        if not (isinstance(token.owner, Node) and (_is_idle(token.owner) or token.owner in sources))
    ]
    if len(kept) == len(node.controls):
        return False
    before = [token.owner for token in node.controls if isinstance(token.owner, Node)]
    node.controls = kept
    for owner in before:
        rewriter.changed(owner)
    return True


def _is_idle(node: Node) -> bool:
    """Whether the node is a constant that waits for nothing."""
    return node.op == "Const" and not node.controls


@rule("Const")
def drop_unused_constant(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A constant that nothing uses goes.

    Given:  c = Const; y = Neg(x)
    Result: y = Neg(x)
    """
    if node.used or rewriter.is_named(node):
        return False
    rewriter.erase(node)
    return True
