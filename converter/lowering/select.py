"""Select and SelectV2: elements of one tensor or another by a condition."""

from __future__ import annotations

from ...lite.errors import ModelError
from ...schema.tflite import BuiltinOperator, SelectOptionsT, SelectV2OptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor
from ..partial_shape import broadcast, is_known
from .lowering import Lowering, Rule


def selected(
    lowering: Lowering, node: Node, condition: LiteTensor, x: LiteTensor, y: LiteTensor
) -> LiteTensor:
    """SELECT where all shapes are known and equal, else SELECT_V2, which broadcasts."""
    if x.type != y.type:
        raise ModelError(f"operands must have the same type, got {x!r} and {y!r}")
    shape = broadcast("SELECT_V2", condition.shape, broadcast("SELECT_V2", x.shape, y.shape))
    inputs = [condition, x, y]
    if is_known(shape) and condition.shape == x.shape == y.shape:
        return lowering.operator(node, BuiltinOperator.SELECT, inputs, shape, SelectOptionsT(), type=x.type)
    return lowering.operator(node, BuiltinOperator.SELECT_V2, inputs, shape, SelectV2OptionsT(), type=x.type)


def select_v2(lowering: Lowering, node: Node) -> LiteTensor:
    """Broadcasts all three."""
    condition, x, y = lowering.inputs(node)
    if (chosen := _chosen(condition, x, y)) is not None:
        return chosen
    return selected(lowering, node, condition, x, y)


def select(lowering: Lowering, node: Node) -> LiteTensor:
    """SELECT: the condition has the operands' shape, is a scalar, or a vector that chooses rows."""
    condition, x, y = lowering.inputs(node)
    if (chosen := _chosen(condition, x, y)) is not None:
        return chosen
    shape = x.shape if x.shape is not None else y.shape
    return lowering.operator(
        node, BuiltinOperator.SELECT, [condition, x, y], shape, SelectOptionsT(), type=x.type
    )


def _chosen(condition: LiteTensor, x: LiteTensor, y: LiteTensor) -> LiteTensor | None:
    """The operand that a constant condition takes whole, where all three are of one known shape."""
    data = condition.data
    if data is None or not data.size or not condition.shape == x.shape == y.shape or not is_known(x.shape):
        return None
    return x if data.all() else y if not data.any() else None


REGISTRATIONS: dict[str, Rule] = {"Select": select, "SelectV2": select_v2}
