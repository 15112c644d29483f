"""Additions that become the bias of the operator before them."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from .pattern import Fused, bias_of, bias_place, channels_of, hand_on_activation, weighted_with_constant


class FuseBias:
    """Makes a constant that is added (or subtracted) per channel the bias.

    Given:  y = ADD(CONV_2D(x, w, b), c)      c constant, one number for each output channel
    Result: y = CONV_2D(x, w, b + c)

    Also for DEPTHWISE_CONV_2D, FULLY_CONNECTED and TRANSPOSE_CONV, and for SUB with c on the right. The
    convolution must have no activation and no other user, and b must be constant or missing.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        fused = Fused(graph)
        for code, sign in ((BuiltinOperator.ADD, 1), (BuiltinOperator.SUB, -1)):
            for first, second, constant in weighted_with_constant(fused, code):
                bias = _bias(first)
                if bias is None:
                    continue
                data = (bias + sign * constant.astype(np.float64)).astype(np.float32)
                name = f"{first.outputs[0].name}/bias"
                first.inputs[bias_place(first) :] = [LiteTensor(name, TensorType.FLOAT32, data.shape, data)]
                hand_on_activation(first, second)
                fused.join(first, second)
        return fused.finish()


def _bias(operator: LiteOperator) -> np.ndarray | None:
    """The bias, zeros where there is none, None where it is not constant."""
    bias = bias_of(operator)
    return np.zeros(channels_of(operator)) if bias is None else bias.data
