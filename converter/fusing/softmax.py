"""SOFTMAX, put together from exponentials and their sum."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, SoftmaxOptionsT
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from .pattern import activation_of, sources_of
from .reduction import reduces_last_axis


class UseSoftmax:
    """Makes one operator of exponentials that are divided by their sum.

    Given:  e = EXP(SUB(x, REDUCE_MAX(x, [-1], keep_dims)))
            y = DIV(e, SUM(e, [-1], keep_dims))
    Result: y = SOFTMAX(x)

    Without the maximum it stays as it is: there large values give infinities, which SOFTMAX does not.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators were made."""
        producers = graph.producers()
        made = 0
        for i, operator in enumerate(graph.operators):
            found = _softmax(operator, producers)
            if found is None:
                continue
            x, parts = found
            options, sources = SoftmaxOptionsT(beta=1.0), sources_of(operator, *parts)
            graph.operators[i] = LiteOperator(
                BuiltinOperator.SOFTMAX, [x], operator.outputs, options, sources
            )
            made += 1
        return made


def _softmax(
    operator: LiteOperator, producers: dict[int, LiteOperator]
) -> tuple[LiteTensor, tuple[LiteOperator, ...]] | None:
    """The x of a softmax whose last operator this is, and its other operators; None where it is none."""
    if operator.code != BuiltinOperator.DIV or activation_of(operator):
        return None
    powers, divisor = operator.inputs
    total, exponential = producers.get(id(divisor)), producers.get(id(powers))
    if total is None or total.code != BuiltinOperator.SUM or total.inputs[0] is not powers:
        return None
    if exponential is None or exponential.code != BuiltinOperator.EXP or not reduces_last_axis(total):
        return None
    difference = producers.get(id(exponential.inputs[0]))
    if difference is None or difference.code != BuiltinOperator.SUB or activation_of(difference):
        return None
    x, highest = difference.inputs
    maximum = producers.get(id(highest))
    if maximum is None or maximum.code != BuiltinOperator.REDUCE_MAX or maximum.inputs[0] is not x:
        return None
    if x is None or x.type != TensorType.FLOAT32 or not reduces_last_axis(maximum):
        return None
    if x.shape is None or x.shape != operator.outputs[0].shape:
        return None
    return x, (exponential, total, difference, maximum)
