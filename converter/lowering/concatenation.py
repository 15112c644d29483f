"""ConcatV2 and Concat."""

from __future__ import annotations

from collections.abc import Sequence

from ...lite.errors import ModelError
from ...schema.tflite import BuiltinOperator, ConcatenationOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from .lowering import Lowering, Rule


def _joined(lowering: Lowering, node: Node, parts: Sequence[LiteTensor], axis: int) -> LiteTensor:
    """CONCATENATION along an axis counted from the front where the rank is known."""
    rank = next((len(x.shape) for x in parts if x.shape is not None), None)
    if rank is not None and not -rank <= axis < rank:
        raise ModelError(f"axis must be in [{-rank}, {rank}), got {axis}")
    counted = axis if rank is None else axis % rank
    options = ConcatenationOptionsT(axis=counted)
    return lowering.operator(node, BuiltinOperator.CONCATENATION, parts, lowering.result_shape(node), options)


def concat_v2(lowering: Lowering, node: Node) -> LiteTensor:
    """The axis is the last input."""
    *parts, _ = lowering.inputs(node)
    [axis] = lowering.integers_input(node, len(parts), "the axis")
    return _joined(lowering, node, parts, axis)


def concat(lowering: Lowering, node: Node) -> LiteTensor:
    """The axis is the first input."""
    _, *parts = lowering.inputs(node)
    [axis] = lowering.integers_input(node, 0, "the axis")
    return _joined(lowering, node, parts, axis)


REGISTRATIONS: dict[str, Rule] = {"Concat": concat, "ConcatV2": concat_v2}
