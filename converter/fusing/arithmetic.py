"""Arithmetic that does nothing, or that another operator does as well."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, SquaredDifferenceOptionsT
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from ..partial_shape import broadcast, is_known
from .pattern import Fused, activation_of, skip, sources_of
from .product import scalar_of

# Operator: the constant that changes nothing, and whether it may stand on the left.
_NEUTRAL = {
    BuiltinOperator.ADD: (0, True),
    BuiltinOperator.SUB: (0, False),
    BuiltinOperator.MUL: (1, True),
    BuiltinOperator.DIV: (1, False),
}


class RemoveNeutralArithmetic:
    """Takes out additions of 0 and multiplications by 1.

    Given:  y = MUL(ADD(x, 0), 1)
    Result: x wherever y was used

    Also SUB of 0 and DIV by 1. The constant must not stretch x.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        found = ((operator, _unchanged(operator)) for operator in graph.operators)
        return skip(graph, [(operator, x) for operator, x in found if x is not None])


def _unchanged(operator: LiteOperator) -> LiteTensor | None:
    """The operand that the result equals, None where there is none."""
    if operator.code not in _NEUTRAL or activation_of(operator):
        return None
    neutral, commutes = _NEUTRAL[operator.code]
    a, b = operator.inputs
    for x, constant in ((a, b), (b, a))[: 1 + commutes]:
        if x is None or constant is None or constant.data is None or constant.data.dtype.kind not in "fiu":
            continue
        same_shape = x.shape is not None and x.shape == operator.outputs[0].shape
        if same_shape and _is_all(constant.data, neutral):
            return x
    return None


def _is_all(data: np.ndarray, number: int) -> bool:
    """Whether the array has elements and all are the number; most have another one first."""
    return data.size > 0 and data.reshape(-1)[0] == number and bool(np.all(data == number))


class UseSquaredDifference:
    """Makes one operator of a difference that is squared.

    Given:  y = SQUARE(SUB(a, b))
    Result: y = SQUARED_DIFFERENCE(a, b)

    The difference must have no other user.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        fused = Fused(graph)
        for second in graph.operators:
            x = second.inputs[0] if second.inputs else None
            squares = second.code == BuiltinOperator.SQUARE or (
                second.code == BuiltinOperator.MUL and x is second.inputs[1] and not activation_of(second)
            )
            if not squares or x is None or fused.uses.get(id(x)) != len(second.inputs):
                continue
            first = fused.producers.get(id(x))
            if first is None or first.code != BuiltinOperator.SUB or activation_of(first):
                continue
            if first.outputs[0].type != TensorType.FLOAT32:
                continue
            first.code = BuiltinOperator.SQUARED_DIFFERENCE
            first.options = SquaredDifferenceOptionsT()
            fused.join(first, second)
        return fused.finish()


# What values are cut off at, and the operator that does it.
_CUTS: dict[tuple[float | None, float | None], BuiltinOperator] = {
    (-1.0, 1.0): BuiltinOperator.RELU_N1_TO_1,
    (0.0, 1.0): BuiltinOperator.RELU_0_TO_1,
    (0.0, 6.0): BuiltinOperator.RELU6,
}
_ENDS = {BuiltinOperator.MAXIMUM, BuiltinOperator.MINIMUM}


class UseCutOffs:
    """Makes one operator of values that are cut off at -1 and 1, 0 and 1, or 0 and 6.

    Given:  y = MAXIMUM(MINIMUM(x, 1), -1)      or the other way round
    Result: y = RELU_N1_TO_1(x)
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators were made."""
        producers = graph.producers()
        made = 0
        for operator in graph.operators:
            middle, outer = _cut(operator)
            first = producers.get(id(middle))
            if first is None or {first.code, operator.code} != _ENDS:
                continue
            x, inner = _cut(first)
            ends = {first.code: inner, operator.code: outer}
            code = _CUTS.get((ends[BuiltinOperator.MAXIMUM], ends[BuiltinOperator.MINIMUM]))
            if code is None or x is None or x.shape is None or x.shape != operator.outputs[0].shape:
                continue
            operator.code, operator.inputs, operator.options = code, [x], None
            operator.sources = sources_of(operator, first)
            made += 1
        return made


def _cut(operator: LiteOperator) -> tuple[LiteTensor | None, float | None]:
    """The operand of a MAXIMUM or MINIMUM with a number, and the number."""
    if operator.code not in _ENDS:
        return None, None
    a, b = operator.inputs
    return (a, scalar_of(b)) if scalar_of(a) is None else (b, scalar_of(a))


class SkipBroadcasts:
    """Leaves stretching to the operator that stretches its operands itself.

    Given:  y = MUL(BROADCAST_TO(x, s), z)
    Result: y = MUL(x, z)      where that has y's shape too
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operands were exchanged."""
        producers = graph.producers()
        skipped = 0
        for operator in graph.operators:
            if operator.code not in _NEUTRAL or not is_known(operator.outputs[0].shape):
                continue
            for i, tensor in enumerate(operator.inputs):
                before = producers.get(id(tensor))
                if before is None or before.code != BuiltinOperator.BROADCAST_TO:
                    continue
                if _stretches_alike(operator, before.inputs[0], operator.inputs[1 - i]):
                    operator.inputs[i] = before.inputs[0]
                    skipped += 1
        return skipped


def _stretches_alike(operator: LiteOperator, x: LiteTensor | None, other: LiteTensor | None) -> bool:
    if x is None or other is None or x.type != operator.outputs[0].type:
        return False
    return broadcast(operator.code.name, x.shape, other.shape) == operator.outputs[0].shape
