"""Constants: computed ahead, and stored once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...schema.tflite import BuiltinOperator
from ..lite_graph import LiteGraph, LiteTensor
from ..same_content import SameContent
from .pattern import activation_of

_FUNCTIONS: dict[BuiltinOperator, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    BuiltinOperator.ADD: np.add,
    BuiltinOperator.SUB: np.subtract,
    BuiltinOperator.MUL: np.multiply,
    BuiltinOperator.RESHAPE: lambda x, shape: x.reshape(shape),
}


class FoldConstants:
    """Computes what depends on constants only.

    Given:  y = ADD(a, b)      a and b constant
    Result: y constant, a + b
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        folded = []
        for operator in graph.operators:
            function = _FUNCTIONS.get(operator.code)
            values = [
                tensor.data for tensor in operator.inputs if tensor is not None and tensor.data is not None
            ]
            if function is None or len(values) != 2 or activation_of(operator):
                continue
            operator.outputs[0].data = function(*values)
            operator.outputs[0].shape = operator.outputs[0].data.shape
            folded.append(operator)
        graph.remove(folded)
        return len(folded)


class ShareConstants:
    """Keeps one constant of those with equal type, shape and bytes.

    Given:  p = MUL(x, a); q = MUL(z, b)      a and b equal constants
    Result: p = MUL(x, a); q = MUL(z, a)
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many uses changed."""
        known = SameContent()
        first: list[LiteTensor] = []
        kept: dict[int, LiteTensor] = {}
        changed = 0
        for operator in graph.operators:
            for i, tensor in enumerate(operator.inputs):
                if tensor is None or tensor.data is None or tensor.data.dtype.kind == "O":
                    continue
                if id(tensor) not in kept:
                    number = known.number(tensor.data, (tensor.type, tensor.data.shape))
                    if number == len(first):
                        first.append(tensor)
                    kept[id(tensor)] = first[number]
                if kept[id(tensor)] is not tensor:
                    operator.inputs[i] = kept[id(tensor)]
                    changed += 1
        return changed
