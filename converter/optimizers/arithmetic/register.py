"""The stages of the arithmetic optimizer, in the order in which a node is tried."""

from __future__ import annotations

from ...graph.algebra import unused_rule
from ...transforms.purity import is_pure
from ..common_subgraph import dedup_computations
from ..constant_controls import drop_needless_controls
from ..turn import Turn
from . import aggregation, casts, formulas, movement, removal, stretching
from .composition import unary_ops_composition

STAGES = (
    # Trees become one sum before single sums are turned into something else.
    aggregation.combine_add_to_addn,
    formulas.convert_sqrt_div_to_rsqrt_mul,
    dedup_computations,
    formulas.fold_conjugate_into_transpose,
    formulas.fold_multiply_into_conv,
    formulas.fold_transpose_into_matmul,
    formulas.fuse_squared_diff,
    aggregation.hoist_common_factor_out_of_aggregation,
    movement.hoist_cwise_unary_chains,
    movement.hoist_unary_out_of_split,
    aggregation.minimize_broadcasts,
    movement.optimize_max_or_min_of_monotonic,
    removal.remove_idempotent,
    removal.remove_identity_transpose,
    removal.remove_involution,
    removal.remove_logical_not,
    removal.remove_negation,
    removal.remove_redundant_bitcast,
    removal.remove_redundant_cast,
    removal.remove_redundant_reshape,
    stretching.reduce_upsampling_dims,
    casts.reorder_cast_like_and_value_preserving,
    stretching.replace_mul_with_tile,
    formulas.replace_mul_with_square,
    stretching.replace_pack_with_tile_reshape,
    formulas.convert_pow,
    formulas.convert_log1p,
    formulas.convert_log_softmax,
    formulas.convert_expm1,
    movement.remove_stack_slice_same_axis,
    aggregation.simplify_aggregation,
    stretching.simplify_embedding_lookup,
    stretching.remove_cast_into_segment_reduction,
)


def run_stages(turn: Turn) -> None:
    """Run the stages until none changes anything. What they leave unused goes.

    Source: TensorFlow core/grappler/optimizers/arithmetic_optimizer.cc.
    """
    cleaning = (unused_rule(is_pure),) if turn.item.fetches or turn.item.function else ()
    # Chains are whole when nothing else changes them any more. Graphs for other programs have public ops.
    chains = () if turn.config.target == "portable" else (unary_ops_composition,)
    turn.rewrite((*cleaning, drop_needless_controls, *STAGES), (*cleaning, *chains))
