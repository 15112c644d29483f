"""ReverseV2 and ReverseSequence."""

from __future__ import annotations

from ...lite.errors import UnsupportedError
from ...schema.tflite import BuiltinOperator, ReverseSequenceOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .cast import as_int32
from .lowering import Lowering, Rule


def reverse_v2(lowering: Lowering, node: Node) -> LiteTensor:
    """REVERSE_V2; nothing where no axis is to be reversed."""
    x, axes = lowering.inputs(node)
    if axes.shape == (0,):
        return x
    known = axes.known()
    if known is not None and len(known) > 1 and x.shape is not None:
        # The operator wants neighbours.
        order = sorted(axis % len(x.shape) for axis in known)
        if order != list(range(order[0], order[0] + len(order))):
            raise UnsupportedError(f"REVERSE_V2 takes neighbouring axes, got {order}")
    return lowering.operator(node, BuiltinOperator.REVERSE_V2, [x, as_int32(lowering, node, axes)], x.shape)


def reverse_sequence(lowering: Lowering, node: Node) -> LiteTensor:
    """REVERSE_SEQUENCE."""
    inputs = lowering.inputs(node)
    options = ReverseSequenceOptionsT(seq_dim=node.integer("seq_dim"), batch_dim=node.integer("batch_dim"))
    return lowering.operator(node, BuiltinOperator.REVERSE_SEQUENCE, inputs, inputs[0].shape, options)


RULES: dict[str, Rule] = {"ReverseSequence": reverse_sequence, "ReverseV2": reverse_v2}
