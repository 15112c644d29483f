"""Folding: nodes of constants are computed when the graph is converted, by the fallback kernels.

What has no elements is a constant, whatever it is made from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...kernels.fallback.node_runner import run_node
from ...kernels.fallback.register import fallback_kernels
from ...kernels.fallback.status import OpError
from ...lite.errors import ModelError, UnsupportedError
from ...lite.tensor import NUMPY_DTYPES, TensorType
from ..ir.node import Node
from ..lite_graph import LiteTensor, PartialShape
from ..transforms.purity import is_pure
from .flex import node_def_of
from .lowering import Lowering

# A result larger than this is folded only when it is not much larger than what it is made from.
_SMALL_BYTES = 1 << 20
_MOST_OPERAND_BYTES = 1 << 27
_GROWTH = 2
# Ops whose results are as large as the values of their operands say.
_SIZED_BY_VALUES = frozenset(("Fill", "Tile", "BroadcastTo", "Range", "LinSpace", "OneHot", "Empty", "Pad"))

# Integers of ONNX models that floats are made of: operators on integers may take those.
_RULES_FOLD = frozenset(("UniformDequantize",))
# What stands for something that a model cannot hold as a constant.
_HANDLES = (TensorType.RESOURCE, TensorType.VARIANT)


def folded(lowering: Lowering, node: Node) -> list[LiteTensor] | None:
    """The results of a node whose operands are all constant; None when it cannot or should not be folded.

    Source of the limits: TensorFlow compiler/mlir/tensorflow/transforms/constant_fold.cc.
    """
    tensors = lowering.inputs(node)
    values = [tensor.data for tensor in tensors if tensor.data is not None]
    if not values or len(values) != len(tensors) or not is_pure(node):
        return None
    if lowering.program.has_foreign_forms and node.op in _RULES_FOLD:
        return None
    if any(lowering.result_type(node, i) in _HANDLES for i in range(len(node.results))):
        return None
    operand_bytes = sum(value.nbytes for value in values)
    if operand_bytes > _MOST_OPERAND_BYTES or not fallback_kernels().registrations(node.op):
        return None
    limit = max(_SMALL_BYTES, _GROWTH * operand_bytes)
    if not _fits(node, values, [lowering.result_shape(node, i) for i in range(len(node.results))], limit):
        return None
    try:
        results = run_node(node_def_of(node), values)
    except (UnsupportedError, OpError, ModelError):
        # What is wrong with it is for its rule to say.
        return None
    nbytes = sum(result.nbytes for result in results)
    if nbytes > limit or not lowering.program.limits.take(nbytes):
        return None
    lowering.program.outcomes[lowering.name(node)] = "folded"
    base = lowering.name(node)
    return [
        lowering.constant(f"{base}:{i}" if i else base, result, lowering.result_type(node, i))
        for i, result in enumerate(results)
    ]


def without_elements(lowering: Lowering, node: Node) -> list[LiteTensor] | None:
    """Constants for a node's results where all are known to have no elements, else None."""
    if not is_pure(node):
        return None
    base, found = lowering.name(node), list[LiteTensor]()
    for i in range(len(node.results)):
        shape, type = lowering.result_shape(node, i), lowering.result_type(node, i)
        empty = empty_constant(lowering, f"{base}:{i}" if i else base, shape, type)
        if empty is None:
            return None
        found.append(empty)
    return found or None


def empty_constant(lowering: Lowering, name: str, shape: PartialShape, type: TensorType) -> LiteTensor | None:
    """A tensor that has no elements; None where one of the shape has, or may have."""
    if not shape or 0 not in shape or -1 in shape or type not in NUMPY_DTYPES:
        return None
    return lowering.constant(name, np.empty(shape, NUMPY_DTYPES[type]), type)


def _fits(node: Node, values: Sequence[np.ndarray], shapes: Sequence[PartialShape], limit: int) -> bool:
    """Whether the results can be made without taking far more memory than their operands."""
    if node.op not in _SIZED_BY_VALUES:
        return True
    sizes = [math.prod(shape) for shape in shapes if shape is not None and -1 not in shape]
    return len(sizes) == len(shapes) and 16 * sum(sizes) <= limit
