"""BatchToSpaceND and SpaceToBatchND."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from ...schema.tflite import BuiltinOperator
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule


def _rule(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> LiteTensor:
        x, block, margins = lowering.inputs(node)
        if x.shape is not None and not 3 <= len(x.shape) <= 4:
            raise UnsupportedError(f"{code.name} takes 3 or 4 dimensions, got {len(x.shape)}")
        inputs = [x, as_int32(lowering, node, block), as_int32(lowering, node, margins)]
        return lowering.operator(node, code, inputs, lowering.result_shape(node))

    return rule


REGISTRATIONS: dict[str, Rule] = {
    "BatchToSpaceND": _rule(BuiltinOperator.BATCH_TO_SPACE_ND),
    "SpaceToBatchND": _rule(BuiltinOperator.SPACE_TO_BATCH_ND),
}
