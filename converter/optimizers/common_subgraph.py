"""common_subgraph_elimination: of equal nodes one stays."""

from __future__ import annotations

from collections.abc import Hashable

from ..graph.algebra import equal_rule
from ..ir.node import Node
from ..transforms.equal_nodes import equal_key, is_around
from ..transforms.purity import is_pure
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
    fed = turn.item.feed_nodes()

    def key(node: Node) -> Hashable | None:
        if node.op in _SWITCHES and node.name not in fed:
            return node.op, node.device, node.operands, frozenset(node.controls)
        return equal_key(node, COMMUTATIVE, fed)

    turn.rewrite((equal_rule(key, is_around, _may_go),), shapes=False)


def _may_go(node: Node) -> bool:
    return node.op in _SWITCHES or is_pure(node)
