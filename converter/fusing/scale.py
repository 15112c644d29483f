"""Multiplications that go into the weights after them."""

from __future__ import annotations

import numpy as np

from ...schema.tflite import BuiltinOperator
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from .pattern import Fused, activation_of

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


def _factors(operator: LiteOperator) -> tuple[LiteTensor, np.ndarray] | None:
    """What is multiplied, and by what: a number, or one for each entry of the last axis."""
    if operator.code not in (BuiltinOperator.MUL, BuiltinOperator.DIV):
        return None
    a, b = operator.inputs
    pairs = ((a, b), (b, a)) if operator.code == BuiltinOperator.MUL else ((a, b),)
    for x, constant in pairs:
        if x is None or constant is None or constant.data is None or x.data is not None:
            continue
        data = constant.data
        if data.dtype != np.float32 or x.shape is None or x.shape != operator.outputs[0].shape:
            continue
        if data.size != 1 and (data.shape[-1] != data.size or data.ndim > len(x.shape)):
            continue
        flat = data.reshape(-1)
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
