"""The rules of constant folding, in the order in which a node is tried."""

from __future__ import annotations

from . import control_flow, evaluate, keep_operand, materialize, neutral, partial, push_down, reciprocal

# Constants are brought together before anything that hides them.
EARLY_RULES = (
    push_down.push_constant,
    push_down.multiply_filter,
    partial.merge_concats,
)
RULES = (
    materialize.broadcast_gradient_args,
    materialize.likes,
    materialize.shapes,
    materialize.shape_n,
    evaluate.evaluate,
    *EARLY_RULES,
    keep_operand.keep_operand,
    neutral.neutral_element,
    materialize.reduction_indices,
    control_flow.constant_enter,
    control_flow.merge_of_constant,
    control_flow.switch_of_itself,
    control_flow.constant_case,
    control_flow.tensor_array_size,
    partial.constant_identities,
    partial.sum_constants,
    partial.concat_constants,
    partial.pack_of_one,
    reciprocal.reciprocal,
)
