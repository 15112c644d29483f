"""Values as products: a number times tensors."""

from __future__ import annotations

import numpy as np

from ...schema.tflite import BuiltinOperator
from ..lite_graph import LiteOperator, LiteTensor
from .pattern import activation_of

# A chain of more products is no pattern.
_MOST_FACTORS = 8


class Product:
    """What a tensor is a product of: a number, and tensors that are none themselves.

    operators are those of the product, the last first.
    """

    def __init__(self, tensor: LiteTensor, producers: dict[int, LiteOperator]) -> None:
        self.number = 1.0
        self.factors: list[LiteTensor] = []
        self.operators: list[LiteOperator] = []
        waiting = [tensor]
        while waiting and len(self.factors) < _MOST_FACTORS:
            self._take(waiting.pop(), producers, waiting)

    def _take(
        self, tensor: LiteTensor, producers: dict[int, LiteOperator], waiting: list[LiteTensor]
    ) -> None:
        value = scalar_of(tensor)
        if value is not None:
            self.number *= value
            return
        operator = producers.get(id(tensor))
        if operator is None or activation_of(operator):
            self.factors.append(tensor)
            return
        a, b = (*operator.inputs, None, None)[:2]
        divisor = scalar_of(b)
        if operator.code == BuiltinOperator.MUL and a is not None and b is not None:
            waiting += [b, a]
        elif operator.code == BuiltinOperator.NEG and a is not None:
            self.number = -self.number
            waiting.append(a)
        elif operator.code == BuiltinOperator.DIV and a is not None and divisor:
            self.number /= divisor
            waiting.append(a)
        else:
            self.factors.append(tensor)
            return
        self.operators.append(operator)


def scalar_of(tensor: LiteTensor | None) -> float | None:
    """The number that a constant float tensor holds everywhere, None when it is none such."""
    if tensor is None or tensor.data is None or tensor.data.dtype != np.float32 or tensor.data.size == 0:
        return None
    first = tensor.data.reshape(-1)[0]
    return float(first) if tensor.data.size == 1 or np.all(tensor.data == first) else None


def is_about(number: float | None, expected: float) -> bool:
    """Whether a number is what a float32 makes of the expected one, in a few roundings."""
    return number is not None and abs(number - expected) <= 1e-5 * abs(expected)
