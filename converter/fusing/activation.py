"""Activations that become part of the operator before them."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import ActivationFunctionType, BuiltinOperator
from ..lite_graph import LiteGraph
from .pattern import Fused, activation_of, set_activation

_ACTIVATIONS = {
    BuiltinOperator.RELU: ActivationFunctionType.RELU,
    BuiltinOperator.RELU6: ActivationFunctionType.RELU6,
    BuiltinOperator.RELU_N1_TO_1: ActivationFunctionType.RELU_N1_TO_1,
}


class FuseActivation:
    """Lets an operator apply the activation that follows it.

    Given:  y = RELU(CONV_2D(x, w, b))
    Result: y = CONV_2D(x, w, b) with fused_activation_function RELU

    For every operator whose options have an activation, none as yet, and whose result has no
    other user.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        fused = Fused(graph)
        for second in graph.operators:
            if second.code not in _ACTIVATIONS:
                continue
            first = fused.only_user_of(second.inputs[0])
            if first is None or not first.facts.activates:
                continue
            if activation_of(first) != ActivationFunctionType.NONE:
                continue
            if first.outputs[0].type != TensorType.FLOAT32:
                continue
            set_activation(first, _ACTIVATIONS[second.code])
            fused.join(first, second)
        return fused.finish()
