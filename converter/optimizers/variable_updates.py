"""Updates of variables that change nothing."""

from __future__ import annotations

from ..graph.rule import rule
from ..ir.node import Node
from ..transforms.bodies import token_of
from ..transforms.folding.neutral import is_all
from .rewriter import OptimizingRewriter

# The operand that is added or multiplied by, and the number by which nothing changes, of each update.
_OPS = {
    **{f"Assign{way}{kind}": (1, 0) for way in ("Add", "Sub") for kind in ("", "VariableOp")},
    **{
        f"{kind}Scatter{nd}{way}": (2, int(way in ("Mul", "Div")))
        for kind in ("", "Resource")
        for nd in ("", "Nd")
        for way in ("Add", "Sub", "Mul", "Div")
    },
}


@rule(
    *_OPS,
    source="TensorFlow core/grappler/optimizers/constant_folding.cc, RemoveRedundantVariableUpdates",
)
def needless_update(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A variable to which zeros are added, or that is multiplied by ones, stays as it is.

    Given:  z = Const 0; u = AssignAddVariableOp(v, z); r = ReadVariableOp(v) [^u]
    Result: u = NoOp [^v, ^z]; r = ReadVariableOp(v) [^u]

    What waits for it goes on waiting. An update whose result, a reference, is used stays.
    """
    place, number = _OPS[node.op]
    if any(value.users for value in node.results) or place >= len(node.operands) or rewriter.is_named(node):
        return False
    if not is_all(node.operands[place], number):
        return False
    tokens = [*map(token_of, node.operands), *node.controls]
    made = rewriter.add(node, "NoOp", node.name, (), {}, (), dict.fromkeys(tokens))
    rewriter.replace(node, made)
    return True
