"""Arithmetic of two tensors: Add, AddV2, Sub, Mul, BiasAdd."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import TensorType
from ...schema.objects import TableT
from ...schema.tflite import AddOptionsT, BuiltinOperator, MulOptionsT, SubOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import broadcast
from .lowering import Lowering, Rule, check_type

_OPTIONS: dict[BuiltinOperator, type[TableT]] = {
    BuiltinOperator.ADD: AddOptionsT,
    BuiltinOperator.SUB: SubOptionsT,
    BuiltinOperator.MUL: MulOptionsT,
}


def arithmetic(
    lowering: Lowering, node: Node, code: BuiltinOperator, a: LiteTensor, b: LiteTensor, suffix: str = ""
) -> LiteTensor:
    """ADD, SUB or MUL with broadcasting."""
    check_type(a, TensorType.FLOAT32, TensorType.INT32, TensorType.INT64)
    if a.type != b.type:
        raise ModelError(f"operands must have the same type, got {a!r} and {b!r}")
    shape = broadcast(code.name, a.shape, b.shape)
    return lowering.operator(node, code, [a, b], shape, _OPTIONS[code](), suffix=suffix)


def _rule(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        return arithmetic(lowering, node, code, lowering.input(node, 0), lowering.input(node, 1))

    return rule


def bias_add(lowering: Lowering, node: Node) -> LiteTensor:
    """ADD of a bias along the channels."""
    x, bias = lowering.input(node, 0), lowering.input(node, 1)
    if node.text("data_format") == "NCHW" and x.shape is not None and len(x.shape) > 2:
        # Channels are axis 1: give the bias the axes behind it.
        if bias.data is None:
            raise UnsupportedError("a bias in NCHW order must be constant")
        behind = (1,) * (len(x.shape) - 2)
        bias = lowering.constant(f"{bias.name}/channels", np.reshape(bias.data, (-1, *behind)))
    return arithmetic(lowering, node, BuiltinOperator.ADD, x, bias)


RULES: dict[str, Rule] = {
    "Add": _rule(BuiltinOperator.ADD),
    "AddV2": _rule(BuiltinOperator.ADD),
    "Sub": _rule(BuiltinOperator.SUB),
    "Mul": _rule(BuiltinOperator.MUL),
    "BiasAdd": bias_add,
}
