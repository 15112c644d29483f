"""UNIDIRECTIONAL_SEQUENCE_LSTM with states that begin anew in each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..lite.tensor import TensorType
from ..schema.tflite import (
    ActivationFunctionType,
    BuiltinOperator,
    PackOptionsT,
    UnidirectionalSequenceLSTMOptionsT,
    UnpackOptionsT,
)
from .lite_graph import LiteGraph, LiteOperator, LiteTensor

_GATES = 4
# Operands that are not there: peepholes behind the weights, projections behind the biases, norms at the end.
_PEEPHOLES, _PROJECTIONS, _NORMS = (None,) * 3, (None,) * 2, (None,) * 4


@dataclass(frozen=True)
class LstmPlace:
    """Where the operators come: their graph, what puts one in, and whose work they do.

    earlier says whether an operator of the graph stands before that place.
    """

    graph: LiteGraph
    put: Callable[[LiteOperator], object]
    earlier: Callable[[LiteOperator], bool]
    name: str
    sources: tuple[str, ...]

    def made(
        self, code: BuiltinOperator, operands: Sequence[LiteTensor | None], y: LiteTensor, options: object
    ) -> LiteTensor:
        self.put(LiteOperator(code, operands, [y], options, self.sources))  # type: ignore[arg-type]
        return y


def lstm_sequence(
    place: LstmPlace,
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
        return [_constant(f"{place.name}/{name}{i}", np.ascontiguousarray(a.T)) for i, a in enumerate(arrays)]

    operands = [x, *constants("kernel", kernel), *constants("recurrent", recurrent), *_PEEPHOLES]
    operands += [*constants("bias", bias), *_PROJECTIONS, *_variables(place, states), *_NORMS]
    options = UnidirectionalSequenceLSTMOptionsT(
        fused_activation_function=ActivationFunctionType.TANH, time_major=time_major
    )
    assert x.shape is not None
    y = LiteTensor(f"{place.name}/sequence", x.type, (*x.shape[:2], bias[0].size))
    return place.made(BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM, operands, y, options)


def _constant(name: str, data: np.ndarray) -> LiteTensor:
    return LiteTensor(name, TensorType.FLOAT32, data.shape, data)


def _variables(place: LstmPlace, states: Sequence[LiteTensor]) -> list[LiteTensor]:
    """Variables that an UNPACK sets to the states in each run, before the LSTM goes on in them.

    Variables keep what they hold between runs; a model's results must not depend on the runs before.
    """
    made = [LiteTensor(f"{place.name}/state{i}", s.type, s.shape) for i, s in enumerate(states)]
    for variable in made:
        variable.is_variable = True
    arrays = [state.data for state in states if state.data is not None]
    if len(arrays) == len(states):
        first = np.stack(arrays)
        before = _unpacked_before(place, first)
        if before is not None:
            _extend(before, made)
            return made
        begin = _constant(f"{place.name}/states", first)
    else:
        begin = LiteTensor(f"{place.name}/states", states[0].type, (len(states), *(states[0].shape or ())))
        place.made(BuiltinOperator.PACK, states, begin, PackOptionsT(values_count=len(states)))
    options = UnpackOptionsT(num=len(states))
    place.put(LiteOperator(BuiltinOperator.UNPACK, [begin], made, options, place.sources))
    return made


def _unpacked_before(place: LstmPlace, first: np.ndarray) -> LiteOperator | None:
    """The UNPACK of this graph that sets other variables of the same shape to zeros, too."""
    if first.any():
        return None
    for operator in place.graph:
        if operator.code == BuiltinOperator.UNPACK and operator.results[0].is_variable:
            data = operator.operand(0).data
            if data is not None and data.shape[1:] == first.shape[1:] and not data.any():
                return operator if place.earlier(operator) else None
    return None


def _extend(unpack: LiteOperator, variables: Sequence[LiteTensor]) -> None:
    """The UNPACK of zeros sets further variables."""
    zeros, results = unpack.operand(0), [*unpack.results, *variables]
    assert zeros.shape is not None
    shape = (len(results), *zeros.shape[1:])
    unpack.operands = (LiteTensor(zeros.name, zeros.type, shape, np.zeros(shape, np.float32)),)
    unpack.give(results)
    unpack.options = UnpackOptionsT(num=len(results))
