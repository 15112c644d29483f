"""The rules of a lowered model, in the order in which they take turns."""

from __future__ import annotations

from ...lite import debug
from ..graph.rule import Rule
from ..graph.trace import Trace
from ..lite_graph import LiteGraph
from .activations import (
    fuse_gelu,
    fuse_hard_swish,
    use_l2_normalization,
    use_prelu,
    use_rectifiers,
    use_softmax,
)
from .arithmetic import (
    remove_neutral_arithmetic,
    simplify_powers,
    skip_broadcasts,
    skip_leading_ones,
    use_cut_offs,
    use_squared_difference,
    use_subtraction,
)
from .constants import (
    fold_constants,
    share_constants,
    skip_empty_results,
    skip_zero_products,
    store_numbers_once,
)
from .control_flow import drop_branch_results, drop_loop_variables, share_with_loops
from .convolution import fuse_padding, use_dilation, use_embedding_lookup
from .equal_operators import drop_unused, share_equal
from .inverses import remove_involution, remove_logical_not, use_inverse_root
from .reshape import (
    join_reshapes,
    keep_dimensions,
    merge_reshapes,
    merge_reshapes_around,
    move_before_reshape,
    skip_flattening,
)
from .rewriter import OperatorRewriter
from .transpose import (
    fuse_matmul_transposes,
    keep_reduced_axes,
    merge_transposes,
    reduce_transposed,
    sink_transposes,
    use_reshape,
)
from .weights import fold_batch_norm, fold_offset_before, fold_scale_before, fuse_activation, fuse_bias

RULES: tuple[Rule[OperatorRewriter], ...] = (
    # What is not needed first: an operator that goes has no users to count.
    drop_unused,
    drop_loop_variables,
    drop_branch_results,
    # What is known makes constants of which the rules below need.
    fold_constants,
    skip_empty_results,
    skip_zero_products,
    # Plain forms, before patterns are looked for. Cut-offs come before rectifiers, which are half of some,
    # and before equal operators are shared, as two of them may have one end in common.
    remove_neutral_arithmetic,
    skip_broadcasts,
    skip_leading_ones,
    simplify_powers,
    use_subtraction,
    remove_involution,
    remove_logical_not,
    use_inverse_root,
    use_cut_offs,
    use_rectifiers,
    share_equal,
    share_with_loops,
    # Patterns of many operators, before a rule takes one of them.
    use_l2_normalization,
    use_softmax,
    use_squared_difference,
    fuse_gelu,
    fuse_hard_swish,
    use_prelu,
    # What only moves data goes, or out of the way of what a convolution could take in.
    merge_reshapes,
    merge_reshapes_around,
    join_reshapes,
    use_reshape,
    merge_transposes,
    sink_transposes,
    fuse_matmul_transposes,
    reduce_transposed,
    keep_reduced_axes,
    use_dilation,
    move_before_reshape,
    # Into the weights: the scale behind before the bias, which it scales too, and the scale before last.
    fold_batch_norm,
    fuse_bias,
    use_embedding_lookup,
    fold_scale_before,
    fold_offset_before,
    fuse_padding,
    # Reshapes around a product go together, before the one in front goes alone.
    keep_dimensions,
    skip_flattening,
    # Nothing may be fused behind an activation, so it is the last.
    fuse_activation,
)

# When nothing else changes any more.
LAST_RULES: tuple[Rule[OperatorRewriter], ...] = (store_numbers_once, share_constants)


def optimize(graph: LiteGraph) -> Trace:
    """Apply the rules, one after the other over the whole graph, until none changes anything."""
    trace = OperatorRewriter(graph, [[rule] for rule in RULES]).run()
    last = OperatorRewriter(graph, [[rule] for rule in LAST_RULES]).run()
    if debug.level >= debug.PLAN:
        for line in (*trace.lines(debug.level >= debug.NODES), *last.lines(debug.level >= debug.NODES)):
            debug.say(f"graph {graph.name}: {line}")
    return trace
