"""Multiplications that go into the weights before them."""

from __future__ import annotations

import numpy as np

from ...schema.tflite import BuiltinOperator
from ..lite_graph import LiteGraph, LiteTensor
from .pattern import Fused, bias_of, bias_place, hand_on_activation, weighted_with_constant


class FoldBatchNorm:
    """Folds a multiplication per channel, as a batch norm becomes, into the weights before it.

    Given:  y = MUL(CONV_2D(x, w, b), m)      m constant, one number for each output channel
    Result: y = CONV_2D(x, w * m, b * m)

    Also for DIV, and for DEPTHWISE_CONV_2D and FULLY_CONNECTED. The convolution must have constant
    weights, no activation, and no other user.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        fused = Fused(graph)
        products = [
            *weighted_with_constant(fused, BuiltinOperator.MUL),
            *(
                (a, b, np.float32(1) / c)
                for a, b, c in weighted_with_constant(fused, BuiltinOperator.DIV)
                if np.all(c != 0)
            ),
        ]
        for first, second, factors in products:
            weights, bias = first.inputs[1], bias_of(first)
            if weights is None or weights.data is None or (bias is not None and bias.data is None):
                continue
            first.inputs[1] = _scaled(weights, factors, first.code)
            if bias is not None:
                first.inputs[bias_place(first)] = _scaled(bias, factors, first.code)
            hand_on_activation(first, second)
            fused.join(first, second)
        return fused.finish()


def _scaled(tensor: LiteTensor, factors: np.ndarray, code: BuiltinOperator) -> LiteTensor:
    """A new constant: others may use the old one."""
    assert tensor.data is not None
    last = code == BuiltinOperator.DEPTHWISE_CONV_2D
    along = factors if last else factors.reshape(-1, *(1,) * (tensor.data.ndim - 1))
    return LiteTensor(f"{tensor.name}/scaled", tensor.type, tensor.shape, tensor.data * along)
