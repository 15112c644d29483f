"""Control edges that order nothing: those from constants, twice the same, and from what is waited for
anyway.
"""

from __future__ import annotations

from ..graph.rule import rule
from ..ir.node import TERMINATORS, Node, Value
from .rewriter import OptimizingRewriter

_SWITCHES = ("Switch", "RefSwitch", "_SwitchN")


@rule()
def drop_needless_controls(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A node waits for no constant: one that waits for nothing has always run.

    Given:  c = Const; y = Neg(x) [^c, ^x, ^z, ^z]      d = Const [^z]; w = Const [^d]
    Result: y = Neg(x) [^z]                             d = Const [^z]; w = Const [^z]
    """
    if not node.controls or node.op in TERMINATORS:
        return False
    sources = {value.owner for value in node.operands}
    kept = [
        token
        for token in dict.fromkeys(map(_awaited, node.controls))
        if not (isinstance(token.owner, Node) and (_is_idle(token.owner) or token.owner in sources))
    ]
    if kept == list(node.controls):
        return False
    before = [token.owner for token in node.controls if isinstance(token.owner, Node)]
    node.controls = kept
    for owner in before:
        rewriter.changed(owner)
    return True


def _awaited(token: Value) -> Value:
    """What a constant that waits for one node waits for, in its place; else the node itself."""
    owner = token.owner
    if isinstance(owner, Node) and owner.op == "Const" and len(owner.controls) == 1:
        source = owner.controls[0]
        if isinstance(source.owner, Node) and source.owner.device == owner.device:
            return source
    return token


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
