"""Formulas of float operators, written as formulas."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .binary import binary
from .elementwise import unary
from .lowering import Lowering
from .select import selected


class Expression:
    """A tensor that arithmetic and functions make operators of; numbers become constants of its type."""

    def __init__(self, lowering: Lowering, node: Node, tensor: LiteTensor) -> None:
        self.lowering = lowering
        self.node = node
        self.tensor = tensor

    def __add__(self, other: Expression | float) -> Expression:
        return self._with(BuiltinOperator.ADD, other)

    def __sub__(self, other: Expression | float) -> Expression:
        return self._with(BuiltinOperator.SUB, other)

    def __mul__(self, other: Expression | float) -> Expression:
        return self._with(BuiltinOperator.MUL, other)

    def __truediv__(self, other: Expression | float) -> Expression:
        return self._with(BuiltinOperator.DIV, other)

    def __rsub__(self, other: float) -> Expression:
        return self._number(other) - self

    def __rtruediv__(self, other: float) -> Expression:
        return self._number(other) / self

    def __lt__(self, other: Expression | float) -> Expression:
        return self._with(BuiltinOperator.LESS, other)

    def __gt__(self, other: Expression | float) -> Expression:
        return self._with(BuiltinOperator.GREATER, other)

    def equals(self, other: Expression | float) -> Expression:
        return self._with(BuiltinOperator.EQUAL, other)

    def apply(self, code: BuiltinOperator) -> Expression:
        """An operator of one operand."""
        return self._of(unary(self.lowering, self.node, code, self.tensor))

    def choose(self, yes: Expression | float, no: Expression | float) -> Expression:
        """Elements of one where this is true, else of the other; one of them is an expression."""
        like = yes if isinstance(yes, Expression) else no
        assert isinstance(like, Expression)
        x, y = (each if isinstance(each, Expression) else like._number(each) for each in (yes, no))
        return self._of(selected(self.lowering, self.node, self.tensor, x.tensor, y.tensor))

    def _with(self, code: BuiltinOperator, other: Expression | float) -> Expression:
        operand = other if isinstance(other, Expression) else self._number(other)
        return self._of(binary(self.lowering, self.node, code, self.tensor, operand.tensor))

    def _number(self, value: float) -> Expression:
        name = self.lowering.name(self.node, f"/{value:.3g}")
        return self._of(self.lowering.scalar(name, value, self.tensor))

    def _of(self, tensor: LiteTensor) -> Expression:
        return Expression(self.lowering, self.node, tensor)
