"""Multiplications and additions that go into the weights and the bias after them."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from .pattern import Fused, activation_of, bias_of

_WEIGHTED = (BuiltinOperator.CONV_2D, BuiltinOperator.DEPTHWISE_CONV_2D, BuiltinOperator.FULLY_CONNECTED)


class FoldScaleBefore:
    """Folds a multiplication by constants into the weights that its result meets.

    Given:  y = CONV_2D(MUL(x, m), w, b)      m constant, a number or one for each input channel
    Result: y = CONV_2D(x, w * m, b)

    Also for DIV, for DEPTHWISE_CONV_2D and FULLY_CONNECTED, and with a PAD by zeros between. The
    product must have no other user, and the weights must be constant.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        fused = Fused(graph)
        gone = []
        for operator in graph.operators:
            weights = operator.inputs[1] if operator.code in _WEIGHTED else None
            if weights is None or weights.data is None or weights.data.dtype != np.float32:
                continue
            user, scale = operator, fused.only_user_of(operator.inputs[0])
            if scale is not None and scale.code == BuiltinOperator.PAD:
                user, scale = scale, fused.only_user_of(scale.inputs[0])
            if scale is None or activation_of(scale):
                continue
            found = _factors(scale)
            scaled = None if found is None else _scaled(operator, weights, found[1])
            if found is None or scaled is None:
                continue
            operator.inputs[1] = scaled
            user.inputs[0] = found[0]
            operator.sources += scale.sources
            gone.append(scale)
        graph.remove(gone)
        return len(gone)


class FoldOffsetBefore:
    """Folds constants that are added before a FULLY_CONNECTED into its bias.

    Given:  y = FULLY_CONNECTED(ADD(x, c), w, b)      c constant, a number or one for each column of w
    Result: y = FULLY_CONNECTED(x, w, b + w c)

    Also for SUB. The sum must have no other user, w and b must be constant. A convolution that pads does
    not do this: what it pads with has no offset.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        fused = Fused(graph)
        gone = []
        for operator in graph.operators:
            weights = operator.inputs[1] if operator.code == BuiltinOperator.FULLY_CONNECTED else None
            if weights is None or weights.data is None or weights.data.dtype != np.float32:
                continue
            total = fused.only_user_of(operator.inputs[0])
            found = None if total is None or activation_of(total) else _offsets(total)
            bias = bias_of(operator)
            if total is None or found is None or (bias is not None and bias.data is None):
                continue
            x, offsets = found
            if offsets.size not in (1, weights.data.shape[1]):
                continue
            added = weights.data.astype(np.float64) @ np.broadcast_to(offsets, weights.data.shape[1:])
            data = (added if bias is None or bias.data is None else bias.data + added).astype(np.float32)
            name = f"{operator.outputs[0].name}/bias"
            operator.inputs = [x, weights, LiteTensor(name, TensorType.FLOAT32, data.shape, data)]
            operator.sources += total.sources
            gone.append(total)
        graph.remove(gone)
        return len(gone)


def _offsets(operator: LiteOperator) -> tuple[LiteTensor, np.ndarray] | None:
    """What is added to, and what is: a number, or one for each entry of the last axis."""
    if operator.code not in (BuiltinOperator.ADD, BuiltinOperator.SUB):
        return None
    a, b = operator.inputs
    for x, constant in ((a, b), (b, a))[: 1 + (operator.code == BuiltinOperator.ADD)]:
        data = None if x is None else _along_last_axis(constant, x, operator.outputs[0])
        if x is not None and data is not None and np.all(np.isfinite(data)):
            return x, -data if operator.code == BuiltinOperator.SUB else data
    return None


def _along_last_axis(constant: LiteTensor | None, x: LiteTensor, y: LiteTensor) -> np.ndarray | None:
    """A constant that varies along the last axis only and does not stretch x, flat; None for others."""
    data = None if constant is None or x.data is not None else constant.data
    if data is None or data.dtype != np.float32 or x.shape is None or x.shape != y.shape:
        return None
    if data.size != 1 and (data.shape[-1] != data.size or data.ndim > len(x.shape)):
        return None
    return data.reshape(-1)


def _factors(operator: LiteOperator) -> tuple[LiteTensor, np.ndarray] | None:
    """What is multiplied, and by what: a number, or one for each entry of the last axis."""
    if operator.code not in (BuiltinOperator.MUL, BuiltinOperator.DIV):
        return None
    a, b = operator.inputs
    pairs = ((a, b), (b, a)) if operator.code == BuiltinOperator.MUL else ((a, b),)
    for x, constant in pairs:
        flat = None if x is None else _along_last_axis(constant, x, operator.outputs[0])
        if x is None or flat is None:
            continue
        if operator.code == BuiltinOperator.DIV:
            if np.any(flat == 0):
                continue
            flat = np.float32(1) / flat
        return x, flat
    return None


def _scaled(operator: LiteOperator, weights: LiteTensor, factors: np.ndarray) -> LiteTensor | None:
    """Weights times the factors of their input channels; None where these do not fit."""
    data = weights.data
    assert data is not None
    if operator.code == BuiltinOperator.DEPTHWISE_CONV_2D and factors.size != 1:
        channels = data.shape[3]
        if channels % factors.size:
            return None
        factors = np.repeat(factors, channels // factors.size)
    elif factors.size not in (1, data.shape[-1]):
        return None
    return LiteTensor(f"{weights.name}/scaled", weights.type, weights.shape, data * factors)
