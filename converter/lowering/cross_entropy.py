"""Softmax cross entropies, with their gradients as second results."""

from __future__ import annotations

import numpy as np

from ...lite.errors import UnsupportedError
from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, LogSoftmaxOptionsT, OneHotOptionsT, SoftmaxOptionsT
from ..element_types import numpy_dtype_of
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .binary import binary
from .elementwise import unary
from .lowering import Lowering, Rule, check_type
from .reduce import reduced
from .select import selected
from .spread_operands import spread_to_one


def _cross_entropy(
    lowering: Lowering, node: Node, logits: LiteTensor, labels: LiteTensor
) -> list[LiteTensor]:
    """-sum(labels * log softmax(logits)), where 0 times anything is 0; softmax(logits) - labels."""
    check_type(logits, TensorType.FLOAT32)
    zero = lowering.scalar(lowering.name(node, "/zero"), 0, logits)
    logs = lowering.operator(node, BuiltinOperator.LOG_SOFTMAX, [logits], logits.shape, LogSoftmaxOptionsT())
    products = binary(lowering, node, BuiltinOperator.MUL, labels, logs)
    is_zero = binary(lowering, node, BuiltinOperator.EQUAL, labels, zero)
    kept = selected(lowering, node, is_zero, zero, products)
    loss = reduced(lowering, node, BuiltinOperator.SUM, kept, [1], False)
    probabilities = lowering.operator(
        node, BuiltinOperator.SOFTMAX, [logits], logits.shape, SoftmaxOptionsT(beta=1.0)
    )
    gradient = binary(lowering, node, BuiltinOperator.SUB, probabilities, labels)
    return [unary(lowering, node, BuiltinOperator.NEG, loss), gradient]


def softmax_cross_entropy(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """Labels are distributions; logits and labels are broadcast where they may differ in shape."""
    logits, labels = lowering.inputs(node)
    if logits.shape is None or labels.shape is None:
        raise UnsupportedError("the ranks of logits and labels must be known")
    if logits.shape != labels.shape:
        logits, labels = spread_to_one(lowering, node, logits, labels)
    return _cross_entropy(lowering, node, logits, labels)


def sparse_softmax_cross_entropy(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """Labels are classes; one out of range makes its row NaN."""
    logits, classes = lowering.inputs(node)
    if logits.shape is None or logits.shape[-1] == -1:
        raise UnsupportedError("the number of classes must be known")
    count = logits.shape[-1]
    depth = lowering.constant(lowering.name(node, "/depth"), np.array(count, np.int32))
    values = [
        lowering.scalar(lowering.name(node, f"/{name}"), v, logits) for name, v in (("on", 1), ("off", 0))
    ]
    labels = lowering.operator(
        node,
        BuiltinOperator.ONE_HOT,
        [classes, depth, *values],
        logits.shape,
        OneHotOptionsT(axis=-1),
        type=logits.type,
    )
    return _cross_entropy(lowering, node, logits, _nan_out_of_range(lowering, node, classes, labels, count))


def _nan_out_of_range(
    lowering: Lowering, node: Node, classes: LiteTensor, labels: LiteTensor, count: int
) -> LiteTensor:
    low, high = (
        lowering.constant(lowering.name(node, f"/{name}"), np.array(value, numpy_dtype_of(classes.type)))
        for name, value in (("first", 0), ("count", count))
    )
    from_first = binary(lowering, node, BuiltinOperator.GREATER_EQUAL, classes, low)
    below_count = binary(lowering, node, BuiltinOperator.LESS, classes, high)
    is_class = binary(lowering, node, BuiltinOperator.LOGICAL_AND, from_first, below_count)
    assert labels.shape is not None
    rows = (labels.shape[0], 1)
    wanted = lowering.integers(lowering.name(node, "/rows"), (-1, 1))
    column = lowering.operator(node, BuiltinOperator.RESHAPE, [is_class, wanted], rows)
    nan = lowering.scalar(lowering.name(node, "/nan"), float("nan"), labels)
    return selected(lowering, node, column, labels, nan)


REGISTRATIONS: dict[str, Rule] = {
    "SoftmaxCrossEntropyWithLogits": softmax_cross_entropy,
    "SparseSoftmaxCrossEntropyWithLogits": sparse_softmax_cross_entropy,
}
