"""Batch normalization: a multiplication and an addition per channel, by statistics told or the batch's."""

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
from .reduce import reduced
from .reshape import reshaped


def fused_batch_norm(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """y = x * m + (offset - mean * m), where m = scale / sqrt(variance + epsilon).

    The other results are, in inference, the mean and variance that came in, then zeros: they are for
    the gradient.
    """
    if node.flag("is_training"):
        return _of_batch(lowering, node)
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


def _of_batch(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """y = (x - mean) / sqrt(variance + epsilon) * scale + offset, by the mean and variance of x itself.

    As Keras 2 computes LayerNormalization. UnsupportedError where another result than y is read.
    """
    if any(value.users or value in lowering.wanted for value in node.results[1:]):
        raise UnsupportedError("statistics of the batch (is_training) are built where they are not read")
    operand, scale, offset = (lowering.input(node, i) for i in range(3))
    check_type(operand, TensorType.FLOAT32)
    if operand.shape is None or len(operand.shape) != 4:
        raise UnsupportedError("the rank must be known, and be 4")
    is_last = node.text("data_format") == "NHWC"
    axes = (0, 1, 2) if is_last else (0, 2, 3)

    def mean(x: Expression) -> Expression:
        made = reduced(lowering, node, BuiltinOperator.MEAN, x.tensor, axes, keep_dims=True)
        return Expression(lowering, node, made)

    def for_channels(x: LiteTensor) -> Expression:
        made = x if is_last else reshaped(lowering, node, x, (-1, 1, 1))
        assert made is not None
        return Expression(lowering, node, made)

    x = Expression(lowering, node, operand)
    centered = x - mean(x)
    m = (mean(centered * centered) + node.real("epsilon")).apply(BuiltinOperator.RSQRT)
    y = centered * (m * for_channels(scale)) + for_channels(offset)
    unread = lowering.constant(lowering.name(node, "/unread"), np.zeros((), np.float32))
    return [y.tensor, *[unread] * (len(node.results) - 1)]


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
