"""UNIDIRECTIONAL_SEQUENCE_LSTM with states that begin anew in each run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...schema.tflite import (
    ActivationFunctionType,
    BuiltinOperator,
    PackOptionsT,
    UnidirectionalSequenceLSTMOptionsT,
    UnpackOptionsT,
)
from ..ir.node import Node
from ..lite_graph import LiteOperator, LiteTensor
from .lowering import Lowering

_GATES = 4
# Operands that are not there: peepholes behind the weights, projections behind the biases, norms at the end.
_PEEPHOLES, _PROJECTIONS, _NORMS = (None,) * 3, (None,) * 2, (None,) * 4


def lstm_sequence(
    lowering: Lowering,
    node: Node,
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

    def constants(name: str, arrays: Sequence[np.ndarray]) -> list[LiteTensor]:
        return [
            lowering.constant(lowering.name(node, f"/{name}{i}"), np.ascontiguousarray(array.T))
            for i, array in enumerate(arrays)
        ]

    operands = [x, *constants("kernel", kernel), *constants("recurrent", recurrent), *_PEEPHOLES]
    operands += [*constants("bias", bias), *_PROJECTIONS, *_variables(lowering, node, states), *_NORMS]
    options = UnidirectionalSequenceLSTMOptionsT(
        fused_activation_function=ActivationFunctionType.TANH, time_major=time_major
    )
    assert x.shape is not None
    shape = (*x.shape[:2], bias[0].size)
    return lowering.operator(
        node, BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM, operands, shape, options, suffix="/sequence"
    )


def _variables(lowering: Lowering, node: Node, states: Sequence[LiteTensor]) -> list[LiteTensor]:
    """Variables that an UNPACK sets to the states in each run, before the LSTM goes on in them.

    Variables keep what they hold between runs; a model's results must not depend on the runs before.
    """
    made = [LiteTensor(lowering.name(node, f"/state{i}"), s.type, s.shape) for i, s in enumerate(states)]
    for variable in made:
        variable.is_variable = True
    shape = (len(states), *(states[0].shape or ()))
    arrays = [state.data for state in states if state.data is not None]
    if len(arrays) == len(states):
        first = np.stack(arrays)
        before = _unpacked_before(lowering, first)
        if before is not None:
            _extend(before, made)
            return made
        begin = lowering.constant(lowering.name(node, "/states"), first)
    else:
        options = PackOptionsT(values_count=len(states))
        begin = lowering.operator(node, BuiltinOperator.PACK, states, shape, options, suffix="/states")
    lowering.add(node, BuiltinOperator.UNPACK, [begin], made, UnpackOptionsT(num=len(states)))
    return made


def _unpacked_before(lowering: Lowering, first: np.ndarray) -> LiteOperator | None:
    """The UNPACK of this graph that sets other variables of the same shape to zeros, too."""
    if first.any():
        return None
    for operator in lowering.graph:
        if operator.code == BuiltinOperator.UNPACK and operator.results[0].is_variable:
            data = operator.operand(0).data
            if data is not None and data.shape[1:] == first.shape[1:] and not data.any():
                return operator
    return None


def _extend(unpack: LiteOperator, variables: Sequence[LiteTensor]) -> None:
    """The UNPACK of zeros sets further variables."""
    zeros, results = unpack.operand(0), [*unpack.results, *variables]
    assert zeros.shape is not None
    shape = (len(results), *zeros.shape[1:])
    unpack.operands = (LiteTensor(zeros.name, zeros.type, shape, np.zeros(shape, np.float32)),)
    unpack.give(results)
    unpack.options = UnpackOptionsT(num=len(results))
