"""UNIDIRECTIONAL_SEQUENCE_LSTM with states that begin anew in each run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..schema.tflite import ActivationFunctionType, BuiltinOperator, UnidirectionalSequenceLSTMOptionsT
from .lite_graph import LiteTensor
from .sequence_states import SequencePlace, state_variables

_GATES = 4
# Operands that are not there: peepholes behind the weights, projections behind the biases, norms at the end.
_PEEPHOLES, _PROJECTIONS, _NORMS = (None,) * 3, (None,) * 2, (None,) * 4


def lstm_sequence(
    place: SequencePlace,
    x: LiteTensor,
    states: Sequence[LiteTensor],
    weights: Sequence[np.ndarray],
    time_major: bool,
) -> LiteTensor:
    """All outputs of an LSTM with sigmoid gates and tanh, [batch, time, units] or with time first.

    x is float32 [batch, time, depth] (or time first); states are hidden and cell, [batch, units], both of
    known shape. weights are [depth, 4 * units], [units, 4 * units] and [4 * units], with the gates in the
    order input, forget, cell, output.
    """
    kernel, recurrent, bias = (np.split(array, _GATES, axis=-1) for array in weights)

    matrices = [
        *place.constants("kernel", [part.T for part in kernel]),
        *place.constants("recurrent", [part.T for part in recurrent]),
    ]
    ends = [*_PROJECTIONS, *state_variables(place, states), *_NORMS]
    operands = [x, *matrices, *_PEEPHOLES, *place.constants("bias", bias), *ends]
    options = UnidirectionalSequenceLSTMOptionsT(
        fused_activation_function=ActivationFunctionType.TANH, time_major=time_major
    )
    assert x.shape is not None
    y = LiteTensor(f"{place.name}/sequence", x.type, (*x.shape[:2], bias[0].size))
    return place.made(BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM, operands, y, options)
