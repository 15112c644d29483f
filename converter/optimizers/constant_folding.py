"""constfold: what constants and shapes decide is decided beforehand."""

from __future__ import annotations

from ..transforms.folding.register import EARLY_RULES, RULES
from .constant_controls import drop_needless_controls, drop_unused_constant
from .simplification import reduction_of_one
from .turn import Turn

CLEANING = (drop_needless_controls, drop_unused_constant)
FOLDING = (*RULES, reduction_of_one)


def fold(turn: Turn) -> None:
    """Materialise shapes, compute constants and simplify until nothing changes; then constants that nothing
    uses, and control edges from constants, go.

    Source: TensorFlow core/grappler/optimizers/constant_folding.cc.
    """
    turn.rewrite((*CLEANING, *EARLY_RULES))
    turn.rewrite((*CLEANING, *FOLDING))
