"""Where two models differ, as pages show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .document import Comparison, Difference

if TYPE_CHECKING:
    from ...model_comparison import ModelComparison


def comparison_of(found: ModelComparison, first: str, second: str, limit_db: float) -> Comparison:
    """The results of operators in the first model's order."""
    differences = [
        Difference(
            pair.node,
            pair.tensor,
            pair.other_node,
            pair.other_tensor,
            None if pair.equal else pair.sqnr_db,
            pair.largest_difference,
            pair.largest_value,
        )
        for pair in found.tensors
    ]
    return Comparison(first, second, limit_db, differences, len(found.unmatched))
