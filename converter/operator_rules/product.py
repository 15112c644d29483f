"""Values as products: a number times tensors."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator as Op
from ..lite_graph import LiteOperator, LiteTensor
from .pattern import activation_of, is_about, scalar_of

# A chain of more products is no pattern.
_MOST_FACTORS = 8


class Product:
    """What a tensor is a product of: a number, and tensors that are none themselves.

    operators are those of the product, the last first.
    """

    def __init__(self, tensor: LiteTensor) -> None:
        self.number = 1.0
        self.factors: list[LiteTensor] = []
        self.operators: list[LiteOperator] = []
        waiting = [tensor]
        while waiting and len(self.factors) < _MOST_FACTORS:
            waiting += self._taken(waiting.pop())

    def _taken(self, tensor: LiteTensor) -> list[LiteTensor]:
        """Take the tensor as a number or a factor; or else what it is a product of, the last first."""
        value = scalar_of(tensor)
        if value is not None:
            self.number *= value
            return []
        operator = tensor.producer
        if operator is not None and not activation_of(operator):
            divisor = scalar_of(operator.operands[1]) if operator.code == Op.DIV else None
            if operator.code == Op.MUL:
                self.operators.append(operator)
                return [operator.operand(1), operator.operand(0)]
            if operator.code == Op.NEG or divisor:
                self.number = self.number / divisor if divisor else -self.number
                self.operators.append(operator)
                return [operator.operand(0)]
        self.factors.append(tensor)
        return []


def is_scaled(tensor: LiteTensor, x: LiteTensor, factor: float) -> bool:
    """Whether the tensor is x times the factor."""
    product = Product(tensor)
    return len(product.factors) == 1 and product.factors[0] is x and is_about(product.number, factor)
