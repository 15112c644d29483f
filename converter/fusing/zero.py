"""Results that are known without computing them: products with zeros, and tensors without elements."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..element_types import numpy_dtype_of
from ..lite_graph import LiteGraph, LiteOperator, LiteTensor, has_effects
from .pattern import activation_of


class SkipZeroProducts:
    """Leaves out a product with zeros of the result's own shape.

    Given:  y = MUL(x, zeros)
    Result: y is the constant zeros

    As in TensorFlow's converter, x counts as finite: the state that a recurrent cell starts with is such
    a constant. A single zero that is stretched stays a product, as there.
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        zeros = [operator for operator in graph.operators if _is_zero(operator)]
        for operator in zeros:
            a, b = operator.inputs
            y = operator.outputs[0]
            constant = a if a is not None and a.data is not None else b
            assert constant is not None
            y.data = constant.data
        graph.remove(zeros)
        return len(zeros)


def _is_zero(operator: LiteOperator) -> bool:
    if operator.code != BuiltinOperator.MUL or activation_of(operator):
        return False
    y = operator.outputs[0]
    return any(_holds_zeros(tensor, y) for tensor in operator.inputs)


def _holds_zeros(tensor: LiteTensor | None, y: LiteTensor) -> bool:
    if tensor is None or tensor.data is None or tensor.data.dtype.kind not in "fiu":
        return False
    return tensor.data.shape == y.shape and tensor.data.size > 0 and not np.any(tensor.data)


class SkipEmptyResults:
    """Makes constants of results that have no elements.

    Given:  y = SLICE(x, [0, 0], [2, 0])      y is [2, 0]
    Result: y is an empty constant
    """

    def run(self, graph: LiteGraph) -> int:
        """Returns how many operators went."""
        empty = [operator for operator in graph.operators if _is_empty(operator)]
        for operator in empty:
            for y in operator.outputs:
                assert y.shape is not None
                y.data = np.empty(y.shape, numpy_dtype_of(y.type))
        graph.remove(empty)
        return len(empty)


# Their constants are more than their elements.
_NO_CONSTANTS = (TensorType.STRING, TensorType.RESOURCE, TensorType.VARIANT)


def _is_empty(operator: LiteOperator) -> bool:
    if operator.callees or operator.custom_code or has_effects(operator) or not operator.outputs:
        return False
    return all(
        y.shape is not None and 0 in y.shape and -1 not in y.shape and y.type not in _NO_CONSTANTS
        for y in operator.outputs
    )
