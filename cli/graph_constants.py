"""Which nodes only bring constants or variables to others: pictures name them inside of these."""

from __future__ import annotations

from ..converter.ir.attributes import DenseAttr, TensorProtoAttr
from ..converter.ir.module import Function, Graph
from ..converter.ir.node import Node, Value
from ..converter.ir.types import TensorType, Type
from ..converter.transforms.purity import is_stateless
from ..schema.shown import shown

_HAND_ON = frozenset(("Identity", "ReadVariableOp"))
_VARIABLES = frozenset(("VarHandleOp", "VariableV2", "Variable"))


def folded_values(body: Graph | Function) -> dict[Value, Node | Value]:
    """The values that only constants and variables go into, each with what it is: a constant, a variable, an
    argument that is one, or the last node that computes it of constants.

    What others wait for is folded, too: constants have no effect. What nobody uses, or waits itself, stays.
    """
    found: dict[Value, Node | Value] = {}
    if isinstance(body, Function):
        found = {
            value: value for value in body.arguments if _element(value.type) == "resource" and value.users
        }
    for node in body.body:
        if (node.op == "Const" or node.op in _VARIABLES) and _may_fold(node):
            found[node.results[0]] = node
    values = list(found)
    for value in values:
        for user in value.users:
            if not _may_fold(user) or user.results[0] in found:
                continue
            if user.op in _HAND_ON and len(user.operands) == 1:
                found[user.results[0]] = found[value]
            elif is_stateless(user.op) and all(map(found.__contains__, user.operands)):
                found[user.results[0]] = user
            else:
                continue
            values.append(user.results[0])
    return found


def source_text(source: Node | Value, body: Graph | Function) -> str:
    """Name and type of what a folded value comes from, for people."""
    if isinstance(source, Value):
        assert isinstance(body, Function)
        return shown(body.argument_name(source))
    return shown(f"{source.name} {type_text(_type_of(source))}")


def _type_of(source: Node) -> Type:
    value = source.attributes.get("value")
    if isinstance(value, DenseAttr | TensorProtoAttr):
        return value.type
    return source.results[0].type


def type_text(type: Type) -> str:
    """Element type and sizes: f32 3x3x32."""
    if not isinstance(type, TensorType):
        return _element(type)
    if type.shape is None:
        return _element(type)
    return f"{_element(type)} {'x'.join('?' if n < 0 else str(n) for n in type.shape)}".rstrip()


def _element(type: Type) -> str:
    return str(type.element if isinstance(type, TensorType) else type).removeprefix("!tf_type.")


def _may_fold(node: Node) -> bool:
    return len(node.results) == 1 and bool(node.results[0].users) and not node.controls and not node.regions
