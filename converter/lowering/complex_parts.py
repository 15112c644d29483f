"""Real, Imag and ComplexAbs."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule

_PARTS = {TensorType.COMPLEX64: TensorType.FLOAT32, TensorType.COMPLEX128: TensorType.FLOAT64}


def _rule(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        x = lowering.input(node, 0)
        return lowering.operator(node, code, [x], x.shape, type=_PARTS.get(x.type, x.type))

    return rule


REGISTRATIONS: dict[str, Rule] = {
    "ComplexAbs": _rule(BuiltinOperator.COMPLEX_ABS),
    "Imag": _rule(BuiltinOperator.IMAG),
    "Real": _rule(BuiltinOperator.REAL),
}
