"""Gradients of a few functions, as graphs of trained steps hold them."""

from __future__ import annotations

from collections.abc import Callable

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .activations import SELU_ALPHA, SELU_SCALE
from .expression import Expression
from .lowering import Lowering, Rule, check_type
from .reduce import reduced


def _of_two(formula: Callable[[Expression, Expression], Expression]) -> Rule:
    """A rule for two float32 operands: the forward op's result and the gradient of it, in either order."""

    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        for operand in lowering.inputs(node):
            check_type(operand, TensorType.FLOAT32)
        first, second = (Expression(lowering, node, operand) for operand in lowering.inputs(node))
        return formula(first, second).tensor

    return rule


def _sigmoid(y: Expression, dy: Expression) -> Expression:
    return y * (1 - y) * dy


def _tanh(y: Expression, dy: Expression) -> Expression:
    return (1 - y * y) * dy


def _unless_zero(dy: Expression, dx: Expression) -> Expression:
    """No gradient where none came back: TensorFlow has 0 even where the function has no slope."""
    return dy.equals(0).choose(0, dx)


def _sqrt(y: Expression, dy: Expression) -> Expression:
    return _unless_zero(dy, dy * 0.5 / y)


def _rsqrt(y: Expression, dy: Expression) -> Expression:
    return _unless_zero(dy, dy * -0.5 * (y * y * y))


def _selu(dy: Expression, y: Expression) -> Expression:
    return (y < 0).choose(dy * (y + SELU_SCALE * SELU_ALPHA), dy * SELU_SCALE)


def bias_add_grad(lowering: Lowering, node: Node) -> LiteTensor:
    """SUM over all axes but that of the channels."""
    gradient = lowering.input(node, 0)
    if gradient.shape is None:
        raise UnsupportedError("the rank must be known")
    rank = len(gradient.shape)
    channels = 1 if node.text("data_format") == "NCHW" else rank - 1
    axes = [axis for axis in range(rank) if axis != channels]
    return reduced(lowering, node, BuiltinOperator.SUM, gradient, axes, False)


REGISTRATIONS: dict[str, Rule] = {
    "BiasAddGrad": bias_add_grad,
    "RsqrtGrad": _of_two(_rsqrt),
    "SeluGrad": _of_two(_selu),
    "SigmoidGrad": _of_two(_sigmoid),
    "SqrtGrad": _of_two(_sqrt),
    "TanhGrad": _of_two(_tanh),
}
