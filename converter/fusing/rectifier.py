"""Rectifiers, put together from maxima, products and each other."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, LeakyReluOptionsT
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from .pattern import activation_of, sources_of
from .product import scalar_of


class UseRectifiers:
    """Makes one operator of what cuts off or flattens negative values.

    Given:  y = MAXIMUM(x, 0)           or y = MAXIMUM(MUL(x, 0.2), x)
    Result: y = RELU(x)                 or y = LEAKY_RELU(x) with alpha 0.2

    The operands of each may stand in either order; alpha is between 0 and 1.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators were made."""
        producers = graph.producers()
        made = 0
        for i, operator in enumerate(graph.operators):
            if operator.code != BuiltinOperator.MAXIMUM:
                continue
            found = _rectified(operator, producers)
            if found is not None:
                graph.operators[i] = producers[id(operator.outputs[0])] = found
                made += 1
        return made


def _rectified(operator: LiteOperator, producers: dict[int, LiteOperator]) -> LiteOperator | None:
    """The one operator that computes the maximum, None where there is none."""
    y = operator.outputs[0]
    a, b = operator.inputs
    for x, other in ((a, b), (b, a)):
        if x is None or x.type != TensorType.FLOAT32 or x.shape is None or x.shape != y.shape:
            continue
        if scalar_of(other) == 0:
            return LiteOperator(BuiltinOperator.RELU, [x], [y], None, operator.sources)
        product = producers.get(id(other))
        alpha = None if product is None else _slope(product, x)
        if product is not None and alpha is not None:
            sources = sources_of(product, operator)
            return LiteOperator(BuiltinOperator.LEAKY_RELU, [x], [y], LeakyReluOptionsT(alpha=alpha), sources)
    return None


def _slope(product: LiteOperator, x: LiteTensor) -> float | None:
    """alpha, of alpha * x; None for anything else."""
    if product.code != BuiltinOperator.MUL or activation_of(product):
        return None
    a, b = product.inputs
    for one, other in ((a, b), (b, a)):
        alpha = scalar_of(other)
        if one is x and alpha is not None and 0 < alpha < 1:
            return alpha
    return None


class UsePrelu:
    """Makes one operator of a rectifier whose slope for negative values is a constant of its own.

    Given:  y = ADD(RELU(x), MUL(-a, RELU(NEG(x))))
    Result: y = PRELU(x, a)

    a must have x's last axes, or sizes of 1 there.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators were made."""
        producers = graph.producers()
        made = 0
        for i, operator in enumerate(graph.operators):
            if operator.code != BuiltinOperator.ADD or activation_of(operator):
                continue
            found = _prelu(operator, producers)
            if found is not None:
                graph.operators[i] = producers[id(operator.outputs[0])] = found
                made += 1
        return made


def _prelu(operator: LiteOperator, producers: dict[int, LiteOperator]) -> LiteOperator | None:
    """PRELU for the sum of its two halves, None for another sum."""
    a, b = operator.inputs
    for first, second in ((a, b), (b, a)):
        positive, product = producers.get(id(first)), producers.get(id(second))
        if positive is None or positive.code != BuiltinOperator.RELU or product is None:
            continue
        x = positive.inputs[0]
        if x is None or x.type != TensorType.FLOAT32 or x.shape != operator.outputs[0].shape:
            continue
        slopes = _negative_half(product, x, producers)
        if slopes is None or not x.shape or slopes.ndim > len(x.shape) - 1:
            continue
        alpha = LiteTensor(f"{operator.outputs[0].name}/alpha", TensorType.FLOAT32, slopes.shape, slopes)
        sources = sources_of(positive, product, operator)
        return LiteOperator(BuiltinOperator.PRELU, [x, alpha], operator.outputs, None, sources)
    return None


def _negative_half(
    product: LiteOperator, x: LiteTensor, producers: dict[int, LiteOperator]
) -> np.ndarray | None:
    """a (float32), of -a * RELU(-x); None for anything else."""
    if product.code != BuiltinOperator.MUL or activation_of(product):
        return None
    m, n = product.inputs
    for constant, other in ((m, n), (n, m)):
        relu = producers.get(id(other))
        if constant is None or constant.data is None or relu is None or relu.code != BuiltinOperator.RELU:
            continue
        negated = producers.get(id(relu.inputs[0]))
        if negated is not None and negated.code == BuiltinOperator.NEG and negated.inputs[0] is x:
            return np.negative(constant.data)
    return None
