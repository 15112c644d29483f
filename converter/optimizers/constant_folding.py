"""constfold: what constants and shapes decide is decided beforehand."""

from __future__ import annotations

from ..graph.algebra import unused_rule
from ..ir.node import Node
from ..transforms.folding.register import EARLY_RULES, RULES
from ..transforms.purity import is_pure
from .constant_controls import drop_needless_controls, drop_unused_constant
from .simplification import reduction_of_one, reshape_to_itself
from .turn import Turn
from .variable_updates import needless_update

_READS = frozenset(("Exit", "ReadVariableOp", "VarIsInitializedOp"))
CLEANING = (drop_needless_controls, drop_unused_constant)
FOLDING = (*RULES, reduction_of_one, reshape_to_itself, needless_update)


def fold(turn: Turn) -> None:
    """Materialise shapes, compute constants and simplify until nothing changes; then what nothing uses, and
    control edges from constants, go.

    Source: TensorFlow core/grappler/optimizers/constant_folding.cc.
    """
    unused = (unused_rule(_may_go),) if turn.item.fetches or turn.item.function else ()
    turn.rewrite((*unused, *CLEANING, *EARLY_RULES))
    turn.rewrite((*unused, *CLEANING, *FOLDING))


def _may_go(node: Node) -> bool:
    """Whether a node that nothing uses is as good as not there, as a loop's result or a read is, too."""
    return node.op in _READS or is_pure(node)
