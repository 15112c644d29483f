"""Pad and PadV2: zeros or a value around a tensor; x itself where that is nothing."""

from __future__ import annotations

import numpy as np

from ...kernels.pad import padded
from ...lite.errors import ModelError
from ...schema.tflite import BuiltinOperator, PadOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import inferred
from .cast import as_int32
from .lowering import Lowering, Rule


def pad(lowering: Lowering, node: Node, x: LiteTensor, paddings: np.ndarray, suffix: str = "") -> LiteTensor:
    """PAD of x by constant [rank, 2] paddings."""
    if (x.shape is not None and paddings.shape != (len(x.shape), 2)) or np.any(paddings < 0):
        raise ModelError(f"paddings must be [rank, 2] and not negative, got {paddings.tolist()} for {x!r}")
    pairs = [(int(before), int(after)) for before, after in paddings]
    shape = inferred(lambda known: padded("PAD", known, pairs), x.shape)
    amounts = lowering.constant(lowering.name(node, f"{suffix}/paddings"), paddings.astype(np.int32))
    return lowering.operator(node, BuiltinOperator.PAD, [x, amounts], shape, PadOptionsT(), suffix=suffix)


def pad_rule(lowering: Lowering, node: Node) -> LiteTensor:
    """PAD."""
    x, paddings = lowering.inputs(node)
    if _is_nothing(paddings, x):
        return x
    if paddings.data is not None:
        return pad(lowering, node, x, paddings.data)
    inputs = [x, paddings]
    return lowering.operator(node, BuiltinOperator.PAD, inputs, lowering.result_shape(node), PadOptionsT())


def pad_v2(lowering: Lowering, node: Node) -> LiteTensor:
    """PADV2 with a value."""
    x, paddings, value = lowering.inputs(node)
    if _is_nothing(paddings, x):
        return x
    if paddings.data is not None:
        paddings = as_int32(lowering, node, paddings)
    inputs = [x, paddings, value]
    return lowering.operator(node, BuiltinOperator.PADV2, inputs, lowering.result_shape(node))


def _is_nothing(paddings: LiteTensor, x: LiteTensor) -> bool:
    data = paddings.data
    return data is not None and x.shape is not None and data.shape == (len(x.shape), 2) and not data.any()


REGISTRATIONS: dict[str, Rule] = {"Pad": pad_rule, "PadV2": pad_v2}
