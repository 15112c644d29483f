"""Batch normalization for inference: a multiplication and an addition per channel."""

from __future__ import annotations

import numpy as np

from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .binary import binary
from .expression import Expression
from .lowering import Lowering, Rule, check_type


def fused_batch_norm(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """y = x * m + (offset - mean * m), where m = scale / sqrt(variance + epsilon).

    The other results are, in inference, the mean and variance that came in, then zeros: they are for
    the gradient.
    """
    if node.flag("is_training"):
        raise UnsupportedError("batch statistics (is_training) are not built, freeze the graph for inference")
    x = lowering.input(node, 0)
    check_type(x, TensorType.FLOAT32)
    names = ("scale", "offset", "mean", "variance")
    scale, offset, mean, variance = (
        lowering.constant_input(node, i, name).astype(np.float64) for i, name in enumerate(names, 1)
    )
    if any(each.shape != scale.shape or each.ndim != 1 for each in (offset, mean, variance)):
        raise ModelError(f"parameters must be vectors of one length, got {scale.shape} to {variance.shape}")
    multiplier = scale / np.sqrt(variance + np.float32(node.real("epsilon")))
    addend = offset - mean * multiplier
    # Channels are the last axis, or have two behind them.
    shape = (-1,) if node.text("data_format") == "NHWC" else (-1, 1, 1)
    m = lowering.constant(lowering.name(node, "/multiplier"), multiplier.astype(np.float32).reshape(shape))
    b = lowering.constant(lowering.name(node, "/addend"), addend.astype(np.float32).reshape(shape))
    scaled = binary(lowering, node, BuiltinOperator.MUL, x, m)
    y = binary(lowering, node, BuiltinOperator.ADD, scaled, b)
    reserved = lowering.constant(lowering.name(node, "/reserved"), np.zeros(mean.shape, np.float32))
    last = lowering.constant(lowering.name(node, "/reserved_3"), np.zeros((), np.float32))
    return [y, lowering.input(node, 3), lowering.input(node, 4), reserved, reserved, last]


def with_global_normalization(lowering: Lowering, node: Node) -> LiteTensor:
    """x * m + (beta - mean * m), where m = gamma / sqrt(variance + epsilon), with gamma where wanted."""
    for operand in lowering.inputs(node):
        check_type(operand, TensorType.FLOAT32)
    x, mean, variance, beta, gamma = (
        Expression(lowering, node, operand) for operand in lowering.inputs(node)
    )
    m = (variance + node.real("variance_epsilon")).apply(BuiltinOperator.RSQRT)
    if node.flag("scale_after_normalization"):
        m = m * gamma
    return (x * m + (beta - mean * m)).tensor


REGISTRATIONS: dict[str, Rule] = {
    "BatchNormWithGlobalNormalization": with_global_normalization,
    "FusedBatchNorm": fused_batch_norm,
    "FusedBatchNormV2": fused_batch_norm,
    "FusedBatchNormV3": fused_batch_norm,
}
