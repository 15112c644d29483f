"""UNIDIRECTIONAL_SEQUENCE_RNN with a state that begins anew in each run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..schema.tflite import BuiltinOperator, SequenceRNNOptionsT
from .lite_graph import LiteTensor
from .sequence_states import SequencePlace, state_variables


def rnn_sequence(
    place: SequencePlace,
    x: LiteTensor,
    state: LiteTensor,
    weights: Sequence[np.ndarray],
    activation: int,
    time_major: bool,
) -> LiteTensor:
    """All outputs of a simple recurrent cell, [batch, time, units] or with time first.

    x is float32 [batch, time, depth] (or time first); the state is [batch, units], of known shape.
    weights are [depth, units], [units, units] and [units]; the activation is one of ActivationFunctionType.
    """
    kernel, recurrent, bias = weights
    held = [*place.constants("weights", [kernel.T, recurrent.T]), *place.constants("bias", [bias])]
    options = SequenceRNNOptionsT(fused_activation_function=activation, time_major=time_major)
    assert x.shape is not None
    y = LiteTensor(f"{place.name}/sequence", x.type, (*x.shape[:2], bias.size))
    operands = [x, *held, *state_variables(place, [state])]
    return place.made(BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_RNN, operands, y, options)
