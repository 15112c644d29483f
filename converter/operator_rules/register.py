"""The rules of a lowered model, in the order in which they take turns."""

from __future__ import annotations

from ...lite import debug
from ..graph.rule import Rule, Trace
from ..lite_graph import LiteGraph
from . import (
    activations,
    arithmetic,
    channel_slices,
    constants,
    control_flow,
    convolution,
    equal_operators,
    inverses,
    layout,
    lstm,
    quantized,
    reshape,
    rnn,
    transpose,
    transpose_chain,
    variables,
    weight_order,
    weighted_parts,
    weights,
)
from .rewriter import OperatorRewriter

RULES: tuple[Rule[OperatorRewriter], ...] = (
    # What is not needed first: an operator that goes has no users to count.
    equal_operators.drop_unused,
    control_flow.drop_loop_variables,
    control_flow.drop_branch_results,
    # A loop that is one operator, before its states are shared with what is around it.
    lstm.use_lstm,
    rnn.use_rnn,
    # What is known makes constants of which the rules below need.
    constants.fold_constants,
    constants.skip_empty_results,
    constants.skip_zero_products,
    # Plain forms, before patterns are looked for. Cut-offs come before rectifiers, which are half of some,
    # and before equal operators are shared, as two of them may have one end in common.
    arithmetic.remove_neutral_arithmetic,
    arithmetic.skip_broadcasts,
    arithmetic.skip_leading_ones,
    arithmetic.simplify_powers,
    arithmetic.use_subtraction,
    inverses.remove_involution,
    inverses.remove_cast_back,
    inverses.remove_logical_not,
    inverses.use_inverse_root,
    arithmetic.use_cut_offs,
    activations.use_rectifiers,
    equal_operators.share_equal,
    control_flow.share_with_loops,
    variables.read_what_is_known,
    variables.assign_at_once,
    # Patterns of many operators, before a rule takes one of them.
    activations.use_l2_normalization,
    activations.use_softmax,
    arithmetic.use_squared_difference,
    activations.fuse_gelu,
    activations.fuse_hard_swish,
    activations.simplify_mish,
    activations.use_prelu,
    # What only moves data goes, or out of the way of what a convolution could take in.
    reshape.reshape_single,
    reshape.reshape_packed,
    reshape.merge_reshapes,
    reshape.merge_reshapes_around,
    reshape.join_reshapes,
    transpose.use_reshape,
    transpose.merge_transposes,
    transpose.sink_transposes,
    transpose.fuse_matmul_transposes,
    transpose.reduce_transposed,
    transpose.keep_reduced_axes,
    transpose_chain.merge_moves,
    convolution.use_dilation,
    reshape.move_before_reshape,
    weighted_parts.move_before_slice,
    weighted_parts.move_before_concatenation,
    # Into the order of weights, before what is added to their results.
    weight_order.fold_gathered_channels,
    weight_order.fold_flattened_order,
    weight_order.fold_unflattened_order,
    # Into the weights: the scale behind before the bias, which it scales too, and the scale before last.
    weights.fold_batch_norm,
    weights.fuse_bias,
    convolution.use_embedding_lookup,
    weights.fold_scale_before,
    weights.fold_offset_before,
    convolution.fuse_padding,
    channel_slices.slice_weights,
    # Reshapes around a product go together, before the one in front goes alone.
    reshape.keep_dimensions,
    reshape.skip_flattening,
    # Nothing may be fused behind an activation, so it is the last.
    weights.fuse_activation,
)

# Before all others, for graphs with forms of other frameworks. What operators on integers take in is
# taken in before.
FIRST_RULES: tuple[Rule[OperatorRewriter], ...] = (
    equal_operators.drop_unused,
    # A gate of several operators is one before a transpose comes between them.
    activations.fuse_gelu,
    # One reshape may keep the axes that two join and cut.
    reshape.merge_reshapes,
    *layout.REGISTRATIONS,
    activations.use_rectifiers,
    activations.fuse_hard_swish,
    quantized.dequantize_later,
    quantized.move_constant_dequantize,
    quantized.use_fully_connected,
    convolution.fuse_padding,
    weights.fuse_bias,
    weights.fuse_activation,
    quantized.requantize_parts,
    quantized.skip_quantize,
    quantized.quantize_operator,
    quantized.requantize,
)

# When nothing else changes any more.
LAST_RULES: tuple[Rule[OperatorRewriter], ...] = (
    constants.store_numbers_once,
    constants.share_constants,
    constants.fill_uniform_operands,
)


def optimize(graph: LiteGraph, has_foreign_forms: bool = False) -> Trace:
    """Apply the rules, one after the other over the whole graph, until none changes anything.

    In a graph with forms of other frameworks transposes between channels first and last are moved out of
    each other's way before, and operators between integers made such on integers.
    """
    if has_foreign_forms:
        OperatorRewriter(graph, [[rule] for rule in FIRST_RULES]).run()
        OperatorRewriter(graph, [[quantized.fold_dequantize]]).run()
    trace = OperatorRewriter(graph, [[rule] for rule in RULES]).run()
    last = OperatorRewriter(graph, [[rule] for rule in LAST_RULES]).run()
    if debug.level >= debug.PLAN:
        for line in (*trace.lines(debug.level >= debug.NODES), *last.lines(debug.level >= debug.NODES)):
            debug.say(f"graph {graph.name}: {line}")
    return trace


def finish(graph: LiteGraph) -> None:
    """What must come behind all rules of all graphs, as these would take it out again."""
    OperatorRewriter(graph, [[control_flow.copy_moved_variables]]).run()
