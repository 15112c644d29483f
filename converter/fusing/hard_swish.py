"""HARD_SWISH, put together from RELU6."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import ActivationFunctionType, BuiltinOperator
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from .pattern import activation_of
from .product import Product, is_about, scalar_of


class FuseHardSwish:
    """Makes one operator of a hard swish.

    Given:  y = x * RELU6(x + 3) / 6
    Result: y = HARD_SWISH(x)

    The factors and the 1/6 may stand in any order.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators were made."""
        producers = graph.producers()
        made = 0
        for i, operator in enumerate(graph.operators):
            if operator.code not in (BuiltinOperator.MUL, BuiltinOperator.DIV) or activation_of(operator):
                continue
            if operator.outputs[0].type != TensorType.FLOAT32:
                continue
            product = Product(operator.outputs[0], producers)
            x = _operand(product, producers)
            if x is None or x.shape != operator.outputs[0].shape:
                continue
            sources = dict.fromkeys(
                source for each in (operator, *product.operators) for source in each.sources
            )
            swish = LiteOperator(BuiltinOperator.HARD_SWISH, [x], operator.outputs, None, tuple(sources))
            graph.operators[i] = swish
            producers[id(operator.outputs[0])] = swish
            made += 1
        return made


def _operand(product: Product, producers: dict[int, LiteOperator]) -> LiteTensor | None:
    """x, of x * RELU6(x + 3) / 6."""
    if len(product.factors) != 2 or not is_about(product.number, 1 / 6):
        return None
    for x, other in (product.factors, product.factors[::-1]):
        if _is_gate(other, x, producers):
            return x
    return None


def _is_gate(tensor: LiteTensor, x: LiteTensor, producers: dict[int, LiteOperator]) -> bool:
    """Whether the tensor is RELU6(x + 3), the activation fused or not."""
    gate = producers.get(id(tensor))
    if gate is not None and gate.code == BuiltinOperator.RELU6 and gate.inputs[0] is not None:
        gate = producers.get(id(gate.inputs[0]))
        wanted = ActivationFunctionType.NONE
    else:
        wanted = ActivationFunctionType.RELU6
    if gate is None or gate.code != BuiltinOperator.ADD or activation_of(gate) != wanted:
        return False
    a, b = gate.inputs
    return any(one is x and scalar_of(other) == 3 for one, other in ((a, b), (b, a)))
