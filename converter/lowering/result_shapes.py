"""What TensorFlow's shape rules say of a node's results: shapes, and numbers of shape vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..ir.node import Node, Value
from ..ir.signature import registered
from ..ir.types import ElementType, TensorType
from ..lite_graph import LiteTensor
from ..shapes.context import MOST_ELEMENTS, UNKNOWN
from ..shapes.infer import Inferred, infer

if TYPE_CHECKING:
    from .lowering import Lowering


def inferred_results(lowering: Lowering, node: Node) -> Inferred:
    """Types of the node's results, and their elements where known; ModelError when its inputs do not fit."""
    tensors = lowering.inputs(node)
    inputs = [_type(value, tensor) for value, tensor in zip(node.operands, tensors, strict=True)]
    results = [v.type if isinstance(v.type, TensorType) else TensorType(v.type) for v in node.results]
    if registered(node.op) is None:
        # Nothing but the node itself tells its results.
        return Inferred(results, [None] * len(results))
    return infer(node.op, node.attributes, inputs, results, [_elements(tensor) for tensor in tensors])


def _type(value: Value, tensor: LiteTensor) -> TensorType:
    element = value.type.element if isinstance(value.type, TensorType) else ElementType("variant")
    return TensorType(element, tensor.shape)


def _elements(tensor: LiteTensor) -> np.ndarray | None:
    """What is known of a small tensor's elements, as shape rules want it."""
    if tensor.data is None:
        if tensor.sizes is None or tensor.shape is None:
            return None
        numbers = [UNKNOWN if number == -1 else number for number in tensor.sizes]
        return np.array(numbers, np.int64).reshape(tensor.shape)
    if tensor.data.size > MOST_ELEMENTS:
        return None
    wide = {"i": np.int64, "u": np.int64, "f": np.float64, "b": np.bool_}.get(tensor.data.dtype.kind)
    return None if wide is None else tensor.data.astype(wide)
