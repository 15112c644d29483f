"""Powers and negations that simpler operators compute."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import AddOptionsT, BuiltinOperator, MulOptionsT, SubOptionsT
from ..lite_graph import LiteGraph, LiteOperator
from .pattern import activation_of, set_activation, skip, sources_of
from .product import scalar_of

_ROOTS = {0.5: BuiltinOperator.SQRT, -0.5: BuiltinOperator.RSQRT}
_SIGNED = (TensorType.FLOAT32, TensorType.INT32)


class SimplifyPowers:
    """Computes powers of 2, 1, 1/2 and -1/2 without POW.

    Given:  y = POW(x, 2)
    Result: y = MUL(x, x)      and SQRT(x) or RSQRT(x) for the roots

    As in TensorFlow's converter, the roots are those of x >= 0: of -infinity POW gives another value.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators changed."""
        same = []
        changed = 0
        for operator in graph.operators:
            exponent = _exponent(operator)
            x = operator.inputs[0] if operator.inputs else None
            if x is None or exponent is None:
                continue
            if exponent == 1:
                same.append((operator, x))
            elif exponent == 2:
                operator.code, operator.inputs = BuiltinOperator.MUL, [x, x]
                operator.options = MulOptionsT()
                changed += 1
            elif exponent in _ROOTS:
                operator.code, operator.inputs, operator.options = _ROOTS[exponent], [x], None
                changed += 1
        return changed + skip(graph, same)


def _exponent(operator: LiteOperator) -> float | None:
    """The exponent of a POW, where it is one number that does not stretch the base."""
    if operator.code != BuiltinOperator.POW:
        return None
    x, exponent = operator.inputs
    if x is None or x.shape is None or x.shape != operator.outputs[0].shape:
        return None
    return scalar_of(exponent)


class UseSubtraction:
    """Makes a subtraction of an addition of a negated operand, and an addition of a subtraction.

    Given:  y = ADD(NEG(x), z)
    Result: y = SUB(z, x)
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators changed."""
        producers = graph.producers()
        return sum(_changed(operator, producers) for operator in graph.operators)


def _changed(operator: LiteOperator, producers: dict[int, LiteOperator]) -> bool:
    if operator.code not in (BuiltinOperator.ADD, BuiltinOperator.SUB):
        return False
    if operator.outputs[0].type not in _SIGNED:
        return False
    a, b = operator.inputs
    activation = activation_of(operator) or 0
    for kept, negated in ((a, b), (b, a))[: 1 + (operator.code == BuiltinOperator.ADD)]:
        negation = producers.get(id(negated))
        if negation is None or negation.code != BuiltinOperator.NEG:
            continue
        if operator.code == BuiltinOperator.ADD:
            operator.code, operator.options = BuiltinOperator.SUB, SubOptionsT()
        else:
            operator.code, operator.options = BuiltinOperator.ADD, AddOptionsT()
        operator.inputs = [kept, negation.inputs[0]]
        operator.sources = sources_of(operator, negation)
        set_activation(operator, activation)
        return True
    return False
