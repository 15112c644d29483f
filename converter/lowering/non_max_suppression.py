"""NonMaxSuppression in the versions with scores and padding."""

from __future__ import annotations

import numpy as np

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .binary import binary
from .cast import cast_to
from .lowering import Lowering, Rule

# A box's overlap with itself.
_MOST = np.float32(1)
_INT, _FLOAT = TensorType.INT32, TensorType.FLOAT32


def _suppressed(lowering: Lowering, node: Node, code: BuiltinOperator) -> list[LiteTensor]:
    """The operator's results, each as long as the most that may be selected, and the count."""
    boxes, scores, count, *limits = lowering.inputs(node)
    # Thresholds may be of another type than boxes and scores, which the operator does not take.
    threshold, *others = (cast_to(lowering, node, limit, _FLOAT) for limit in limits)
    sigma = others[1] if code == BuiltinOperator.NON_MAX_SUPPRESSION_V5 else None
    inputs = [boxes, scores, count, _threshold(lowering, node, threshold, sigma), *others]
    known = count.known()
    most = known[0] if known else -1
    types = [_INT, _FLOAT, _INT] if code == BuiltinOperator.NON_MAX_SUPPRESSION_V5 else [_INT, _INT]
    results = lowering.results(node, [*[(most,)] * (len(types) - 1), ()], types)
    lowering.add(node, code, inputs, results)
    return results


def _threshold(lowering: Lowering, node: Node, x: LiteTensor, sigma: LiteTensor | None) -> LiteTensor:
    """The threshold that has the operator leave out what TensorFlow leaves out, as far as it can.

    The operator leaves out what overlaps by just the threshold, too: where it is known, the next float is.
    With a sigma TensorFlow has no threshold; 1 is the most that keeps the operator from taking a box twice.
    """
    limit = None if x.data is None else np.minimum(np.nextafter(x.data, _MOST), _MOST)
    if sigma is not None and sigma.data is not None:
        limit, sigma = (np.full_like(sigma.data, _MOST) if sigma.data > 0 else limit), None
    made = x if limit is None else lowering.constant(lowering.name(node, "/threshold"), limit)
    if sigma is None:
        return made
    is_soft = binary(
        lowering, node, BuiltinOperator.GREATER, sigma, lowering.scalar(f"{sigma.name}/zero", 0, sigma)
    )
    return binary(lowering, node, BuiltinOperator.MAXIMUM, made, cast_to(lowering, node, is_soft, _FLOAT))


def _cut(lowering: Lowering, node: Node, x: LiteTensor, count: LiteTensor) -> LiteTensor:
    """As many first elements as were selected."""
    begin = lowering.integers(lowering.name(node, "/begin"), [0])
    one = lowering.integers(lowering.name(node, "/one"), [1])
    size = lowering.operator(node, BuiltinOperator.RESHAPE, [count, one], (1,))
    return lowering.operator(node, BuiltinOperator.SLICE, [x, begin, size], (-1,))


def non_max_suppression_v3(lowering: Lowering, node: Node) -> LiteTensor:
    """NON_MAX_SUPPRESSION_V4 and a slice; V3 has no padded form."""
    indices, count = _suppressed(lowering, node, BuiltinOperator.NON_MAX_SUPPRESSION_V4)
    return _cut(lowering, node, indices, count)


def non_max_suppression_v4(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """NON_MAX_SUPPRESSION_V4, with a slice where no padding is wanted."""
    indices, count = _suppressed(lowering, node, BuiltinOperator.NON_MAX_SUPPRESSION_V4)
    if not node.flag("pad_to_max_output_size"):
        indices = _cut(lowering, node, indices, count)
    return [indices, count]


def non_max_suppression_v5(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """NON_MAX_SUPPRESSION_V5, with slices where no padding is wanted."""
    indices, scores, count = _suppressed(lowering, node, BuiltinOperator.NON_MAX_SUPPRESSION_V5)
    if not node.flag("pad_to_max_output_size"):
        indices, scores = (_cut(lowering, node, x, count) for x in (indices, scores))
    return [indices, scores, count]


REGISTRATIONS: dict[str, Rule] = {
    "NonMaxSuppressionV3": non_max_suppression_v3,
    "NonMaxSuppressionV4": non_max_suppression_v4,
    "NonMaxSuppressionV5": non_max_suppression_v5,
}
