"""SegmentSum and the unsorted segment reductions."""

from __future__ import annotations

from ...schema.tflite import BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule


def _rule(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        x, *places = lowering.inputs(node)
        inputs = [x, *(as_int32(lowering, node, place) for place in places)]
        return lowering.operator(node, code, inputs, lowering.result_shape(node))

    return rule


REGISTRATIONS: dict[str, Rule] = {
    "SegmentSum": _rule(BuiltinOperator.SEGMENT_SUM),
    "UnsortedSegmentMax": _rule(BuiltinOperator.UNSORTED_SEGMENT_MAX),
    "UnsortedSegmentMin": _rule(BuiltinOperator.UNSORTED_SEGMENT_MIN),
    "UnsortedSegmentProd": _rule(BuiltinOperator.UNSORTED_SEGMENT_PROD),
    "UnsortedSegmentSum": _rule(BuiltinOperator.UNSORTED_SEGMENT_SUM),
}
