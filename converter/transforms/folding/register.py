"""The rules of constant folding, in the order in which a node is tried."""

from __future__ import annotations

from .control_flow import (
    constant_case,
    constant_enter,
    merge_of_constant,
    switch_of_itself,
    tensor_array_size,
)
from .evaluate import evaluate
from .keep_operand import keep_operand
from .materialize import broadcast_gradient_args, likes, reduction_indices, shape_n, shapes
from .neutral import neutral_element
from .partial import concat_constants, constant_identities, merge_concats, pack_of_one, sum_constants
from .push_down import multiply_filter, push_constant
from .reciprocal import reciprocal

# Constants are brought together before anything that hides them.
EARLY_RULES = (
    push_constant,
    multiply_filter,
    merge_concats,
)
RULES = (
    broadcast_gradient_args,
    likes,
    shapes,
    shape_n,
    evaluate,
    *EARLY_RULES,
    keep_operand,
    neutral_element,
    reduction_indices,
    constant_enter,
    merge_of_constant,
    switch_of_itself,
    constant_case,
    tensor_array_size,
    constant_identities,
    sum_constants,
    concat_constants,
    pack_of_one,
    reciprocal,
)
