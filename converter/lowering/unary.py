"""Functions of one tensor that keep its shape: Sin, Relu, Relu6, Softmax."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, SoftmaxOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule, check_type


def _rule(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        x = lowering.input(node, 0)
        check_type(x, TensorType.FLOAT32)
        return lowering.operator(node, code, [x], x.shape)

    return rule


def softmax(lowering: Lowering, node: Node) -> LiteTensor:
    """SOFTMAX over the last axis."""
    x = lowering.input(node, 0)
    check_type(x, TensorType.FLOAT32)
    if x.shape is not None and not 1 <= len(x.shape) <= 4:
        raise UnsupportedError("SOFTMAX takes 1 to 4 dimensions")
    return lowering.operator(node, BuiltinOperator.SOFTMAX, [x], x.shape, SoftmaxOptionsT(beta=1.0))


RULES: dict[str, Rule] = {
    "Sin": _rule(BuiltinOperator.SIN),
    "Relu": _rule(BuiltinOperator.RELU),
    "Relu6": _rule(BuiltinOperator.RELU6),
    "Softmax": softmax,
}
