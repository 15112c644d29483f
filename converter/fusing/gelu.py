"""GELU, put together from the error function or from the hyperbolic tangent."""

from __future__ import annotations

import math

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, GeluOptionsT
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from .product import Product, is_about, scalar_of

_CUBIC = 0.044715


class FuseGelu:
    """Makes one operator of a GELU.

    Given:  y = 0.5 * x * Erfc(-x * sqrt(0.5))                             exact
            y = 0.5 * x * (1 + Erf(x * sqrt(0.5)))                         exact
            y = 0.5 * x * (1 + TANH(sqrt(2 / pi) * (x + 0.044715 * x^3)))  approximate
    Result: y = GELU(x)
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators were made."""
        producers = graph.producers()
        made = 0
        for i, operator in enumerate(graph.operators):
            if operator.code != BuiltinOperator.MUL or operator.outputs[0].type != TensorType.FLOAT32:
                continue
            found = _gelu(operator.outputs[0], producers)
            if found is None:
                continue
            x, approximate, sources = found
            gelu = LiteOperator(
                BuiltinOperator.GELU,
                [x],
                operator.outputs,
                GeluOptionsT(approximate=approximate),
                (*operator.sources, *(source for source in sources if source not in operator.sources)),
            )
            graph.operators[i] = gelu
            producers[id(operator.outputs[0])] = gelu
            made += 1
        return made


def _gelu(
    tensor: LiteTensor, producers: dict[int, LiteOperator]
) -> tuple[LiteTensor, bool, list[str]] | None:
    """The operand, whether it is the approximate form, and the nodes that it was made of."""
    product = Product(tensor, producers)
    if len(product.factors) != 2 or not is_about(product.number, 0.5):
        return None
    for x, other in (product.factors, product.factors[::-1]):
        operator = producers.get(id(other))
        if operator is None or x.shape != tensor.shape:
            continue
        sources = [source for each in (*product.operators, operator) for source in each.sources]
        if operator.custom_code == "Erfc" and _is_scaled(operator.inputs[0], x, -math.sqrt(0.5), producers):
            return x, False, sources
        curve = _one_plus(operator, producers)
        if curve is None:
            continue
        if curve.custom_code == "Erf" and _is_scaled(curve.inputs[0], x, math.sqrt(0.5), producers):
            return x, False, [*sources, *curve.sources]
        if curve.code == BuiltinOperator.TANH and _is_cubic(curve.inputs[0], x, producers):
            return x, True, [*sources, *curve.sources]
    return None


def _one_plus(operator: LiteOperator, producers: dict[int, LiteOperator]) -> LiteOperator | None:
    """What is added to 1."""
    if operator.code != BuiltinOperator.ADD:
        return None
    a, b = operator.inputs
    for one, other in ((a, b), (b, a)):
        if scalar_of(one) == 1 and other is not None:
            return producers.get(id(other))
    return None


def _is_scaled(
    tensor: LiteTensor | None, x: LiteTensor, factor: float, producers: dict[int, LiteOperator]
) -> bool:
    """Whether the tensor is x times the factor."""
    if tensor is None:
        return False
    product = Product(tensor, producers)
    return len(product.factors) == 1 and product.factors[0] is x and is_about(product.number, factor)


def _is_cubic(tensor: LiteTensor | None, x: LiteTensor, producers: dict[int, LiteOperator]) -> bool:
    """Whether the tensor is sqrt(2 / pi) * (x + 0.044715 * x^3)."""
    if tensor is None:
        return False
    product = Product(tensor, producers)
    if len(product.factors) != 1 or not is_about(product.number, math.sqrt(2 / math.pi)):
        return False
    total = producers.get(id(product.factors[0]))
    if total is None or total.code != BuiltinOperator.ADD:
        return False
    a, b = total.inputs
    return any(one is x and _is_cube(other, x, producers) for one, other in ((a, b), (b, a)))


def _is_cube(tensor: LiteTensor | None, x: LiteTensor, producers: dict[int, LiteOperator]) -> bool:
    """Whether the tensor is 0.044715 * x^3."""
    if tensor is None:
        return False
    product = Product(tensor, producers)
    if not is_about(product.number, _CUBIC):
        return False
    powers = [_power(factor, x, producers) for factor in product.factors]
    return 0 not in powers and sum(powers) == 3


def _power(tensor: LiteTensor, x: LiteTensor, producers: dict[int, LiteOperator]) -> int:
    """Which power of x the tensor is, 0 for none."""
    if tensor is x:
        return 1
    operator = producers.get(id(tensor))
    if operator is None or operator.inputs[0] is not x:
        return 0
    if operator.code == BuiltinOperator.SQUARE:
        return 2
    exponent = scalar_of(operator.inputs[1]) if operator.code == BuiltinOperator.POW else None
    return int(exponent) if exponent in (2.0, 3.0) else 0
