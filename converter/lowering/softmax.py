"""Softmax and LogSoftmax over the last axis."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator, LogSoftmaxOptionsT, SoftmaxOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def softmax(lowering: Lowering, node: Node) -> LiteTensor:
    """SOFTMAX."""
    x = lowering.input(node, 0)
    return lowering.operator(node, BuiltinOperator.SOFTMAX, [x], x.shape, SoftmaxOptionsT(beta=1.0))


def log_softmax(lowering: Lowering, node: Node) -> LiteTensor:
    """LOG_SOFTMAX."""
    x = lowering.input(node, 0)
    return lowering.operator(node, BuiltinOperator.LOG_SOFTMAX, [x], x.shape, LogSoftmaxOptionsT())


REGISTRATIONS: dict[str, Rule] = {"LogSoftmax": log_softmax, "Softmax": softmax}
