"""Variables that a model keeps from call to call: VarHandleOp, reading and assignment."""

from __future__ import annotations

from ...lite.tensor import TensorType
from ...schema.tflite import BuiltinOperator, VarHandleOptionsT
from ..ir.node import Node
from ..lite_graph import LiteTensor, PartialShape
from .binary import binary
from .lowering import Lowering, Rule


def var_handle(lowering: Lowering, node: Node) -> LiteTensor:
    """VAR_HANDLE, known by its shared name."""
    shared_name = node.text("shared_name") or lowering.name(node)
    options = VarHandleOptionsT(container=node.text("container"), shared_name=shared_name)
    return lowering.operator(node, BuiltinOperator.VAR_HANDLE, [], (), options, type=TensorType.RESOURCE)


def _shape(node: Node) -> PartialShape:
    """What the handle's own node says of the variable's shape."""
    handle = node.operands[0].owner
    return handle.shape("shape") if isinstance(handle, Node) and handle.op == "VarHandleOp" else None


def _value(lowering: Lowering, node: Node, type: TensorType) -> LiteTensor:
    handle = lowering.input(node, 0)
    return lowering.operator(node, BuiltinOperator.READ_VARIABLE, [handle], _shape(node), type=type)


def read_variable(lowering: Lowering, node: Node) -> LiteTensor:
    """READ_VARIABLE."""
    return _value(lowering, node, lowering.result_type(node))


def assign_variable(lowering: Lowering, node: Node) -> list[LiteTensor]:
    """ASSIGN_VARIABLE."""
    lowering.add(node, BuiltinOperator.ASSIGN_VARIABLE, lowering.inputs(node), [])
    return []


def _changing(code: BuiltinOperator) -> Rule:
    def rule(lowering: Lowering, node: Node) -> list[LiteTensor]:
        """READ_VARIABLE, an operator and ASSIGN_VARIABLE."""
        handle, change = lowering.inputs(node)
        changed = binary(lowering, node, code, _value(lowering, node, change.type), change)
        lowering.add(node, BuiltinOperator.ASSIGN_VARIABLE, [handle, changed], [])
        return []

    return rule


REGISTRATIONS: dict[str, Rule] = {
    "AssignAddVariableOp": _changing(BuiltinOperator.ADD),
    "AssignSubVariableOp": _changing(BuiltinOperator.SUB),
    "AssignVariableOp": assign_variable,
    "ReadVariableOp": read_variable,
    "VarHandleOp": var_handle,
}
