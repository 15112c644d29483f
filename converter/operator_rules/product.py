"""Values as products: a number times tensors."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator as Op
from ..lite_graph import LiteOperator, LiteTensor
from ..near_numbers import is_about
from .pattern import activation_of, scalar_of

# A chain of more products is no pattern.
_MOST_FACTORS = 8


class Product:
    """What a tensor is a product of: a number, and tensors that are none themselves.

    operators are those of the product, the last first. whole is not taken apart.
    """

    def __init__(self, tensor: LiteTensor, whole: LiteTensor | None = None) -> None:
        self.whole = whole
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
        operator = None if tensor is self.whole else tensor.producer
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

    def is_of(self, x: LiteTensor, y: LiteTensor) -> bool:
        """Whether the tensors are these two, in any order."""
        return len(self.factors) == 2 and all(any(f is each for f in self.factors) for each in (x, y))


def operands_near(tensor: LiteTensor) -> list[LiteTensor]:
    """The tensor, and what it is a product of, and so on: some of these, the nearest first."""
    near = [tensor]
    for each in near:
        operator = each.producer
        if operator is not None and operator.code in (Op.MUL, Op.DIV, Op.NEG) and len(near) < _MOST_FACTORS:
            near += [operand for operand in operator.operands if operand is not None]
    return near


def is_scaled(tensor: LiteTensor, x: LiteTensor, factor: float) -> bool:
    """Whether the tensor is x times the factor."""
    product = Product(tensor, x)
    return len(product.factors) == 1 and product.factors[0] is x and is_about(product.number, factor)
