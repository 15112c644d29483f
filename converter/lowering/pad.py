"""Pad: zeros around a tensor."""

from __future__ import annotations

import numpy as np

from ...kernels.pad import padded
from ...lite.errors import ModelError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, PadOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import inferred
from .lowering import Lowering, Rule, check_type


def pad(lowering: Lowering, node: Node, x: LiteTensor, paddings: np.ndarray, suffix: str = "") -> LiteTensor:
    """PAD of x by constant [rank, 2] paddings."""
    check_type(x, TensorType.FLOAT32, TensorType.INT32, TensorType.INT64, TensorType.INT8, TensorType.UINT8)
    if (x.shape is not None and paddings.shape != (len(x.shape), 2)) or np.any(paddings < 0):
        raise ModelError(f"paddings must be [rank, 2] and not negative, got {paddings.tolist()} for {x!r}")
    pairs = [(int(before), int(after)) for before, after in paddings]
    shape = inferred(lambda known: padded("PAD", known, pairs), x.shape)
    amounts = lowering.constant(lowering.name(node, f"{suffix}/paddings"), paddings)
    return lowering.operator(node, BuiltinOperator.PAD, [x, amounts], shape, PadOptionsT(), suffix=suffix)


def pad_rule(lowering: Lowering, node: Node) -> LiteTensor:
    """PAD by constant paddings."""
    return pad(lowering, node, lowering.input(node, 0), lowering.constant_input(node, 1, "paddings"))


RULES: dict[str, Rule] = {"Pad": pad_rule}
