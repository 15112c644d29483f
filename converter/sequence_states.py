"""Recurrent operators' place in a graph, and variables that begin anew in each run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..lite.tensor import TensorType
from ..schema.tflite import BuiltinOperator, PackOptionsT, UnpackOptionsT
from .lite_graph import LiteGraph, LiteOperator, LiteTensor


@dataclass(frozen=True)
class SequencePlace:
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

    def constants(self, name: str, arrays: Sequence[np.ndarray]) -> list[LiteTensor]:
        """Float constants, numbered."""
        return [constant(f"{self.name}/{name}{i}", array) for i, array in enumerate(arrays)]


def constant(name: str, data: np.ndarray) -> LiteTensor:
    """A new float32 constant."""
    return LiteTensor(name, TensorType.FLOAT32, data.shape, np.ascontiguousarray(data))


def state_variables(place: SequencePlace, states: Sequence[LiteTensor]) -> list[LiteTensor]:
    """Variables that an UNPACK sets to the states in each run, before an operator goes on in them.

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
        begin = constant(f"{place.name}/states", first)
    else:
        begin = LiteTensor(f"{place.name}/states", states[0].type, (len(states), *(states[0].shape or ())))
        place.made(BuiltinOperator.PACK, states, begin, PackOptionsT(values_count=len(states)))
    options = UnpackOptionsT(num=len(states))
    place.put(LiteOperator(BuiltinOperator.UNPACK, [begin], made, options, place.sources))
    return made


def _unpacked_before(place: SequencePlace, first: np.ndarray) -> LiteOperator | None:
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
