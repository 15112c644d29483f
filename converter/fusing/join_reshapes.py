"""Reshapes of both operands of arithmetic, as one reshape of the result."""

from __future__ import annotations

from typing import NamedTuple

from ...schema.tflite import BuiltinOperator
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from ..partial_shape import is_known
from .pattern import Fused
from .placement import Placement
from .transpose import BINARY, UNARY


class JoinReshapes:
    """Puts one reshape behind arithmetic in place of one for each operand.

    Given:  y = MUL(TANH(RESHAPE(a, s)), LOGISTIC(RESHAPE(b, s)))      a and b have one shape
    Result: y = RESHAPE(MUL(TANH(a), LOGISTIC(b)), s)

    Any number of elementwise operators may stand between. Nothing else may use what there is.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many reshapes went."""
        fused = Fused(graph)
        placement = Placement()
        joined = 0
        for operator in graph.operators:
            if operator.code not in BINARY:
                continue
            a, b = (_chain(tensor, fused) for tensor in operator.inputs)
            if a is None or b is None or not _fit(a, b, operator.outputs[0]):
                continue
            _join(placement, fused, operator, a, b)
            joined += 1
        placement.apply(graph)
        return joined


class _Chain(NamedTuple):
    """A reshape, and the elementwise operators that follow it, the last first."""

    reshape: LiteOperator
    after: list[LiteOperator]


def _chain(tensor: LiteTensor | None, fused: Fused) -> _Chain | None:
    after: list[LiteOperator] = []
    operator = fused.only_user_of(tensor)
    while operator is not None and operator.code in UNARY:
        after.append(operator)
        operator = fused.only_user_of(operator.inputs[0])
    if operator is None or operator.code != BuiltinOperator.RESHAPE:
        return None
    return _Chain(operator, after)


def _fit(a: _Chain, b: _Chain, y: LiteTensor) -> bool:
    """Whether both are reshaped alike, to the result's shape."""
    before = [chain.reshape.inputs[0] for chain in (a, b)]
    shapes = {None if tensor is None else tensor.shape for tensor in before}
    results = {chain.reshape.outputs[0].shape for chain in (a, b)} | {y.shape}
    return len(shapes) == len(results) == 1 and all(is_known(shape) for shape in shapes | results)


def _join(placement: Placement, fused: Fused, operator: LiteOperator, a: _Chain, b: _Chain) -> None:
    y = operator.outputs[0]
    for i, chain in enumerate((a, b)):
        x = chain.reshape.inputs[0]
        assert x is not None
        if chain.after:
            chain.after[-1].inputs[0] = x
        else:
            operator.inputs[i] = x
        for each in chain.after:
            each.outputs[0].shape = x.shape
    source = a.reshape.inputs[0]
    assert source is not None
    middle = LiteTensor(f"{y.name}/unshaped", y.type, source.shape)
    operator.outputs = [middle]
    for chain in (a, b):
        placement.remove(chain.reshape)
    a.reshape.inputs[0], a.reshape.outputs = middle, [y]
    placement.put_behind(operator, a.reshape)
    # Operators after this one are looked at with what they have now.
    fused.producers[id(middle)], fused.producers[id(y)] = operator, a.reshape
    fused.uses[id(middle)] = 1
