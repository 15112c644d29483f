"""common_subgraph_elimination: of equal nodes one stays."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ..graph.algebra import equal_rule
from ..graph.rule import Rule, rule
from ..ir.node import Node
from ..transforms.equal_nodes import equal_key, is_around
from ..transforms.purity import is_pure
from .rewriter import OptimizingRewriter
from .toggle import Toggle
from .turn import Turn

COMMUTATIVE = frozenset(
    (
        *(
            "Add",
            "AddV2",
            "AddN",
            "Mul",
            "Maximum",
            "Minimum",
            "Equal",
            "NotEqual",
            "LogicalAnd",
            "LogicalOr",
        ),
        *("BitwiseAnd", "BitwiseOr", "BitwiseXor", "SquaredDifference", "AccumulateNV2"),
    )
)

# Of equal data and conditions they give the same, dead or alive. A RefSwitch passes on what may be written.
_SWITCHES = ("Switch", "_SwitchN")


def share_equal_nodes(turn: Turn) -> None:
    """Merge nodes that do the same to the same values, constants too, in topological order.

    The operands of commutative ops count in any order, control inputs as a set. Of two one of which is
    preserved, that one stays.
    Source: TensorFlow core/grappler/optimizers/common_subgraph_elimination.cc.
    """
    turn.rewrite((_sharing(turn.item.feed_nodes()),), shapes=False)


@rule(source="TensorFlow core/grappler/optimizers/arithmetic_optimizer.cc")
def dedup_computations(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Of equal nodes one stays, where common_subgraph_elimination is off.

    Given:  a = Exp(x); b = Exp(x); y = Mul(a, b)
    Result: a = Exp(x); y = Mul(a, a)
    """
    if rewriter.notes["config"].common_subgraph_elimination != Toggle.OFF:
        return False
    if dedup_computations not in rewriter.notes:
        rewriter.notes[dedup_computations] = _sharing(rewriter.fed)
    shared: Rule[Any] = rewriter.notes[dedup_computations]
    return shared.rewrite(rewriter, node)


def _sharing(fed: frozenset[str]) -> Rule[Any]:
    """Keeps the first of equal nodes, none of which is fed."""

    def key(node: Node) -> Hashable | None:
        if node.op in _SWITCHES and node.name not in fed:
            return node.op, node.device, node.operands, frozenset(node.controls)
        return equal_key(node, COMMUTATIVE, fed)

    return equal_rule(key, is_around, _may_go)


def _may_go(node: Node) -> bool:
    return node.op in _SWITCHES or is_pure(node)
