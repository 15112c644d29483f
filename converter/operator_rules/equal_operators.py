"""Operators that nothing uses, and such as compute the same as another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping

import numpy as np

from ...kernels.operator_facts import Effects
from ...lite.unresolved import FLEX_PREFIX
from ...schema.objects import TableT
from ..graph.algebra import equal_rule, unused_rule
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor, has_effects
from ..transforms.purity import is_stateless
from .rewriter import OperatorRewriter

# Larger constants are the same only when they are one tensor; share_constants sees to the others.
_SMALL_BYTES = 1024


def operator_key(
    operator: LiteOperator, stand_ins: Mapping[LiteTensor | None, LiteTensor | None] | None = None
) -> Hashable | None:
    """What two operators that compute the same have in common; None for one that is like no other.

    stand_ins are tensors that count as others.
    """
    if operator.callees or has_effects(operator) or not _is_pure_if_custom(operator):
        return None
    if operator.facts.effects is Effects.READS:
        return None
    if any(tensor.quantization is not None for tensor in operator.results):
        return None
    operands = [(stand_ins or {}).get(tensor, tensor) for tensor in operator.operands]
    inputs = tuple(None if tensor is None else _operand_key(tensor) for tensor in operands)
    taken: Hashable = frozenset(Counter(inputs).items()) if operator.facts.commutes else inputs
    types = tuple((tensor.type, tensor.shape) for tensor in operator.results)
    custom = operator.custom_code, operator.custom_options
    return operator.code, taken, types, custom, table_key(operator.options)


def _is_pure_if_custom(operator: LiteOperator) -> bool:
    """False for custom operators, but for TensorFlow's ops without state."""
    code = operator.custom_code
    return code is None or (code.startswith(FLEX_PREFIX) and is_stateless(code.removeprefix(FLEX_PREFIX)))


def _operand_key(tensor: LiteTensor) -> Hashable:
    if tensor.data is None or tensor.data.nbytes > _SMALL_BYTES or tensor.data.dtype.kind == "O":
        return tensor
    return constant_key(tensor), tensor.data.tobytes()


def constant_key(tensor: LiteTensor) -> Hashable:
    """What two constants with equal bytes must have in common to be the same numbers."""
    assert tensor.data is not None
    return tensor.type, tensor.data.shape, table_key(tensor.quantization)


def table_key(table: TableT | None) -> Hashable:
    """A table's type and values; vectors by their elements."""
    if table is None:
        return None
    values = (getattr(table, field.name) for field in table.fields)
    return type(table).__name__, tuple(
        tuple(v) if isinstance(v, list | np.ndarray) else str(v) for v in values
    )


def _comes_before(first: LiteOperator, second: LiteOperator) -> bool:
    return first.block is not None and first.block is second.block and first.block.comes_before(first, second)


def _gives_no_output(operator: LiteOperator) -> bool:
    graph = operator.block
    return isinstance(graph, LiteGraph) and not any(graph.gives(tensor) for tensor in operator.results)


def _has_no_effects(operator: LiteOperator) -> bool:
    return not has_effects(operator)


# Constants count as equal when they are the same tensor, or small ones with equal bytes.
share_equal = equal_rule(operator_key, _comes_before, _gives_no_output)
drop_unused = unused_rule(_has_no_effects)


def remove_dead_code(graph: LiteGraph) -> None:
    """Take out operators that neither outputs nor effects depend on."""
    OperatorRewriter(graph, [[drop_unused]]).run()
