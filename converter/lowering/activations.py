"""Activations: functions of one operand that networks put between their layers."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, LeakyReluOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .binary import binary
from .elementwise import log1p, unary
from .lowering import Lowering, Rule, check_type

# Source: Klambauer et al., Self-Normalizing Neural Networks, as TensorFlow's Selu has them.
SELU_SCALE = 1.0507009873554804934193349852946
SELU_ALPHA = 1.6732632423543772848170429916717


def _rule(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        return unary(lowering, node, code, lowering.input(node, 0))

    return rule


def relu(lowering: Lowering, node: Node) -> LiteTensor:
    """RELU, or for integers MAXIMUM with 0."""
    x = lowering.input(node, 0)
    if x.type == TensorType.FLOAT32:
        return unary(lowering, node, BuiltinOperator.RELU, x)
    zero = lowering.scalar(lowering.name(node, "/zero"), 0, x)
    return binary(lowering, node, BuiltinOperator.MAXIMUM, x, zero)


def leaky_relu(lowering: Lowering, node: Node) -> LiteTensor:
    """LEAKY_RELU; the operand itself, of any type, where alpha is 1."""
    x, alpha = lowering.input(node, 0), node.real("alpha")
    if alpha == 1:
        return x
    return lowering.operator(node, BuiltinOperator.LEAKY_RELU, [x], x.shape, LeakyReluOptionsT(alpha=alpha))


def softplus(lowering: Lowering, node: Node) -> LiteTensor:
    """LOG(EXP(x) + 1)."""
    x = lowering.input(node, 0)
    check_type(x, TensorType.FLOAT32)
    return log1p(lowering, node, unary(lowering, node, BuiltinOperator.EXP, x))


def softsign(lowering: Lowering, node: Node) -> LiteTensor:
    """x / (|x| + 1)."""
    x = lowering.input(node, 0)
    check_type(x, TensorType.FLOAT32)
    one = lowering.scalar(lowering.name(node, "/one"), 1, x)
    size = unary(lowering, node, BuiltinOperator.ABS, x)
    return binary(
        lowering, node, BuiltinOperator.DIV, x, binary(lowering, node, BuiltinOperator.ADD, size, one)
    )


def selu(lowering: Lowering, node: Node) -> LiteTensor:
    """scale * x where x > 0, else scale * alpha * (EXP(x) - 1)."""
    x = lowering.input(node, 0)
    check_type(x, TensorType.FLOAT32)
    zero, one, scale, both = (
        lowering.scalar(lowering.name(node, f"/{name}"), value, x)
        for name, value in (
            ("zero", 0),
            ("one", 1),
            ("scale", SELU_SCALE),
            ("both", SELU_SCALE * SELU_ALPHA),
        )
    )
    grown = binary(lowering, node, BuiltinOperator.SUB, unary(lowering, node, BuiltinOperator.EXP, x), one)
    negative = binary(lowering, node, BuiltinOperator.MUL, both, grown)
    positive = binary(lowering, node, BuiltinOperator.MUL, scale, x)
    is_positive = binary(lowering, node, BuiltinOperator.GREATER, x, zero)
    from .select import selected

    return selected(lowering, node, is_positive, positive, negative)


REGISTRATIONS: dict[str, Rule] = {
    "Elu": _rule(BuiltinOperator.ELU),
    "LeakyRelu": leaky_relu,
    "Relu": relu,
    "Relu6": _rule(BuiltinOperator.RELU6),
    "Selu": selu,
    "Sigmoid": _rule(BuiltinOperator.LOGISTIC),
    "Softplus": softplus,
    "Softsign": softsign,
    "Tanh": _rule(BuiltinOperator.TANH),
}
