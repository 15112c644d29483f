"""Operators that undo or turn round the one before them."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import (
    BuiltinOperator,
    EqualOptionsT,
    GreaterEqualOptionsT,
    GreaterOptionsT,
    LessEqualOptionsT,
    LessOptionsT,
    NotEqualOptionsT,
)
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from .pattern import Fused, activation_of, skip
from .product import scalar_of

_UNDO_THEMSELVES = (BuiltinOperator.NEG, BuiltinOperator.LOGICAL_NOT)
_EXACT_OPPOSITES = {
    BuiltinOperator.EQUAL: (BuiltinOperator.NOT_EQUAL, NotEqualOptionsT),
    BuiltinOperator.NOT_EQUAL: (BuiltinOperator.EQUAL, EqualOptionsT),
}
# Of numbers that can be compared: no comparison of NaN is true.
_ORDERED_OPPOSITES = {
    BuiltinOperator.LESS: (BuiltinOperator.GREATER_EQUAL, GreaterEqualOptionsT),
    BuiltinOperator.LESS_EQUAL: (BuiltinOperator.GREATER, GreaterOptionsT),
    BuiltinOperator.GREATER: (BuiltinOperator.LESS_EQUAL, LessEqualOptionsT),
    BuiltinOperator.GREATER_EQUAL: (BuiltinOperator.LESS, LessOptionsT),
}


class SkipUndone:
    """Takes out what is done and undone.

    Given:  y = NEG(NEG(x))      or LOGICAL_NOT twice
    Result: x wherever y was used
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        producers = graph.producers()
        undone: list[tuple[LiteOperator, LiteTensor]] = []
        for operator in graph.operators:
            if operator.code not in _UNDO_THEMSELVES:
                continue
            before = producers.get(id(operator.inputs[0]))
            x = before.inputs[0] if before is not None and before.code == operator.code else None
            if x is not None:
                undone.append((operator, x))
        return skip(graph, undone)


class UseOpposites:
    """Compares the other way round where the result is turned round, and takes the inverse of a root at once.

    Given:  y = LOGICAL_NOT(EQUAL(a, b))      or y = DIV(1, SQRT(x))
    Result: y = NOT_EQUAL(a, b)               or y = RSQRT(x)

    Also LESS and its like for integers. Of floats it would turn a comparison with NaN, which is never true.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        fused = Fused(graph)
        for second in graph.operators:
            if second.code == BuiltinOperator.LOGICAL_NOT:
                first = fused.only_user_of(second.inputs[0])
                if first is not None and _turn(first):
                    fused.join(first, second)
            elif second.code == BuiltinOperator.DIV and not activation_of(second):
                first = fused.only_user_of(second.inputs[1])
                if first is not None and _is_inverse_root(first, second):
                    first.code = BuiltinOperator.RSQRT
                    fused.join(first, second)
        return fused.finish()


def _turn(operator: LiteOperator) -> bool:
    """Make a comparison the opposite one; False where there is none."""
    a = operator.inputs[0] if operator.inputs else None
    known = dict(_EXACT_OPPOSITES)
    if a is not None and a.type in (TensorType.INT32, TensorType.INT64):
        known |= _ORDERED_OPPOSITES
    if operator.code not in known:
        return False
    operator.code, options = known[operator.code]
    operator.options = options()
    return True


def _is_inverse_root(root: LiteOperator, division: LiteOperator) -> bool:
    same_shape = root.outputs[0].shape is not None and root.outputs[0].shape == division.outputs[0].shape
    return root.code == BuiltinOperator.SQRT and scalar_of(division.inputs[0]) == 1 and same_shape
