"""Constants that hold one number many times."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...schema.tflite import BuiltinOperator, SelectV2OptionsT
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor
from ..partial_shape import PartialShape, broadcast, is_known

_SELECTS = frozenset((BuiltinOperator.SELECT, BuiltinOperator.SELECT_V2))
_STRETCHING = _SELECTS | {
    *(BuiltinOperator.ADD, BuiltinOperator.SUB, BuiltinOperator.MUL, BuiltinOperator.DIV),
    *(BuiltinOperator.MAXIMUM, BuiltinOperator.MINIMUM, BuiltinOperator.EQUAL, BuiltinOperator.NOT_EQUAL),
    *(BuiltinOperator.LESS, BuiltinOperator.LESS_EQUAL, BuiltinOperator.GREATER),
    *(BuiltinOperator.GREATER_EQUAL, BuiltinOperator.SQUARED_DIFFERENCE),
}
# LiteRT stretches operands of up to so many axes with every one of these operators.
_MOST_AXES = 4


class StoreNumbersOnce:
    """Stores a number once where the operator stretches it as well.

    Given:  y = MAXIMUM(x, [[3, 3, 3], [3, 3, 3]])      x is [2, 3]
    Result: y = MAXIMUM(x, 3)

    SELECT becomes SELECT_V2, which stretches.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operands were exchanged."""
        return sum(_changed(operator) for operator in graph.operators)


def _changed(operator: LiteOperator) -> int:
    y = operator.outputs[0] if operator.outputs else None
    if operator.code not in _STRETCHING or y is None or not is_known(y.shape):
        return 0
    if y.shape is None or not 0 < len(y.shape) <= _MOST_AXES or _chooses_rows(operator):
        return 0
    changed = 0
    for i, tensor in enumerate(operator.inputs):
        others = [each for j, each in enumerate(operator.inputs) if j != i]
        if tensor is None or not _is_one_number(tensor) or _stretched(operator, others) != y.shape:
            continue
        assert tensor.data is not None
        operator.inputs[i] = LiteTensor(tensor.name, tensor.type, (), tensor.data.reshape(-1)[:1].reshape(()))
        changed += 1
    if changed and operator.code == BuiltinOperator.SELECT:
        operator.code, operator.options = BuiltinOperator.SELECT_V2, SelectV2OptionsT()
    return changed


def _chooses_rows(operator: LiteOperator) -> bool:
    """Whether this is a SELECT whose condition is a vector with an element for each row."""
    first = operator.inputs[0]
    return (
        operator.code == BuiltinOperator.SELECT
        and first is not None
        and first.shape != operator.outputs[0].shape
    )


def _is_one_number(tensor: LiteTensor) -> bool:
    """Whether the tensor is a constant of several numbers, all the same."""
    data = tensor.data
    if data is None or data.dtype.kind not in "fiub" or data.size < 2 or tensor.quantization is not None:
        return False
    elements = data.reshape(-1)
    return bool(elements[0] == elements[-1]) and bool(np.all(elements == elements[0]))


def _stretched(operator: LiteOperator, tensors: Iterable[LiteTensor | None]) -> PartialShape:
    shape: PartialShape = ()
    for tensor in tensors:
        shape = broadcast(operator.code.name, shape, None if tensor is None else tensor.shape)
    return shape
