"""The rules of constant folding, in the order in which a node is tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...ir.node import Node
from .control_flow import (
    constant_case,
    constant_enter,
    merge_of_constant,
    switch_of_itself,
    tensor_array_size,
)
from .editor import GraphEditor
from .evaluate import evaluate
from .keep_operand import keep_operand
from .materialize import broadcast_gradient_args, likes, reduction_indices, shape_n, shapes
from .neutral import neutral_element
from .partial import concat_constants, constant_identities, merge_concats, pack_of_one, sum_constants
from .push_down import multiply_filter, push_constant
from .reciprocal import reciprocal

# Categories: computing what is constant, and changing the graph so that more is.
COMPUTES, SIMPLIFIES = 1, 2


@dataclass(frozen=True)
class Rule:
    """Whether it changed the graph; afterwards the node may be gone."""

    apply: Callable[[GraphEditor, Node], bool]
    category: int


# Constants are brought together before anything that hides them.
EARLY_RULES = (
    Rule(push_constant, SIMPLIFIES),
    Rule(multiply_filter, SIMPLIFIES),
    Rule(merge_concats, SIMPLIFIES),
)
RULES = (
    Rule(broadcast_gradient_args, SIMPLIFIES),
    Rule(likes, SIMPLIFIES),
    Rule(shapes, SIMPLIFIES),
    Rule(shape_n, SIMPLIFIES),
    Rule(evaluate, COMPUTES),
    *EARLY_RULES,
    Rule(keep_operand, SIMPLIFIES),
    Rule(neutral_element, SIMPLIFIES),
    Rule(reduction_indices, SIMPLIFIES),
    Rule(constant_enter, SIMPLIFIES),
    Rule(merge_of_constant, SIMPLIFIES),
    Rule(switch_of_itself, SIMPLIFIES),
    Rule(constant_case, SIMPLIFIES),
    Rule(tensor_array_size, SIMPLIFIES),
    Rule(constant_identities, SIMPLIFIES),
    Rule(sum_constants, SIMPLIFIES),
    Rule(concat_constants, SIMPLIFIES),
    Rule(pack_of_one, SIMPLIFIES),
    Rule(reciprocal, SIMPLIFIES),
)
