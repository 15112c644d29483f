"""Operators that compute the same as another."""

from __future__ import annotations

from collections.abc import Mapping

from ...kernels.operators import Effects
from ...schema.objects import TableT
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor, has_effects


class ShareResults:
    """Keeps one operator of those with equal operands and options.

    Given:  p = EXP(x); q = EXP(x)
    Result: p = EXP(x), and p wherever q was used

    Constants count as equal when they are the same tensor, or small ones with equal bytes.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        first: dict[object, LiteOperator] = {}
        replaced: dict[int, LiteTensor] = {}
        outputs = {id(tensor) for tensor in graph.outputs}
        gone = []
        for operator in graph.operators:
            operator.inputs = [
                None if tensor is None else replaced.get(id(tensor), tensor) for tensor in operator.inputs
            ]
            key = operator_key(operator)
            if key is None:
                continue
            other = first.setdefault(key, operator)
            if other is operator or any(id(tensor) in outputs for tensor in operator.outputs):
                continue
            pairs = zip(operator.outputs, other.outputs, strict=True)
            replaced |= {id(mine): theirs for mine, theirs in pairs}
            gone.append(operator)
        graph.remove(gone)
        return len(gone)


# Larger constants are the same only when they are one tensor; ShareConstants sees to the others.
_SMALL_BYTES = 1024


def operator_key(operator: LiteOperator, stand_ins: Mapping[int, LiteTensor | None] | None = None) -> object:
    """What two operators that compute the same have in common; None for one that is like no other.

    stand_ins are tensors that count as others, by their ids.
    """
    if operator.callees or operator.custom_code or has_effects(operator):
        return None
    if operator.facts.effects is Effects.READS:
        return None
    operands = [(stand_ins or {}).get(id(tensor), tensor) for tensor in operator.inputs]
    inputs = tuple(None if tensor is None else _operand_key(tensor) for tensor in operands)
    if operator.facts.commutes:
        inputs = tuple(sorted(inputs, key=repr))
    types = tuple((tensor.type, tensor.shape) for tensor in operator.outputs)
    if any(tensor.quantization is not None for tensor in operator.outputs):
        return None
    return operator.code, inputs, types, _options_key(operator.options)


def _operand_key(tensor: LiteTensor) -> object:
    if tensor.data is None or tensor.data.nbytes > _SMALL_BYTES or tensor.data.dtype.kind == "O":
        return id(tensor)
    return tensor.type, tensor.data.shape, tensor.data.tobytes()


def _options_key(options: TableT | None) -> object:
    if options is None:
        return None
    values = (getattr(options, field.name) for field in options.fields)
    return type(options).__name__, tuple(tuple(v) if isinstance(v, list) else str(v) for v in values)
