"""Checks of nodes against the definitions of their ops, and of cycles, as TensorFlow's runtime makes them."""

from __future__ import annotations

from ...lite.errors import ModelError
from .attribute_text import attribute_text
from .attributes import (
    Attribute,
    DenseAttr,
    FuncAttr,
    PlaceholderAttr,
    ShapeAttr,
    TensorProtoAttr,
)
from .import_options import Signatures
from .node import RETURN, Block, Node
from .signature import AttributeRule, Signature
from .types import REFERENCE, ElementType, TensorType

_KINDS: dict[str, type | tuple[type, ...]] = {
    "string": bytes,
    "int": int,
    "float": float,
    "bool": bool,
    "type": ElementType,
    "shape": ShapeAttr,
    "tensor": (DenseAttr, TensorProtoAttr),
    "func": FuncAttr,
}


def check_body(block: Block, signatures: Signatures) -> None:
    """ModelError for a node that breaks its op's rules, naming it."""
    for node in block:
        if node.op == RETURN:
            continue
        if not node.name:
            raise ModelError(f"Node {node.name!r} (op {node.op!r}): must have a name")
        signature = signatures.find(node.op)
        if signature is not None:
            try:
                _check_attributes(node, signature)
                _check_inputs(node, signature)
            except ModelError as error:
                raise ModelError(f"Node {node.name!r} (op {node.op!r}): {error}") from error
    _check_cycles(block)


def _check_attributes(node: Node, signature: Signature) -> None:
    attributes = node.attributes
    for rule in signature.attributes:
        if rule.name in attributes:
            _check_attribute(attributes[rule.name], rule)
        elif rule.default is None:
            raise ModelError(f"attribute {rule.name!r} ({rule.kind}) is missing")
    if node.op == "Const":
        value, dtype = attributes.get("value"), attributes.get("dtype")
        if isinstance(value, DenseAttr | TensorProtoAttr) and value.type.element != dtype:
            expected = "no type" if dtype is None else attribute_text(dtype)
            raise ModelError(f"attribute 'value' must be a tensor of {expected}, got {value.type}")


def _check_attribute(value: Attribute, rule: AttributeRule) -> None:
    if isinstance(value, PlaceholderAttr):
        return
    if rule.kind.startswith("list("):
        if not isinstance(value, tuple):
            raise ModelError(f"attribute {rule.name!r} must be {rule.kind}, got {_kind(value)}")
        items, kind = value, rule.kind[5:-1]
        size: object = len(value)
    else:
        items, kind, size = (value,), rule.kind, value
    expected = _KINDS.get(kind)
    for item in items:
        wrong = expected is not None and not isinstance(item, expected)
        if wrong or (kind != "bool" and isinstance(item, bool)):
            raise ModelError(f"attribute {rule.name!r} must be {rule.kind}, got {_kind(item)}")
        if rule.allowed and item not in rule.allowed:
            found = attribute_text(item)
            raise ModelError(f"attribute {rule.name!r} has a value that its op does not allow: {found}")
    if rule.minimum is not None and isinstance(size, int) and size < rule.minimum:
        raise ModelError(f"attribute {rule.name!r} must be at least {rule.minimum}, got {size}")


def _kind(value: Attribute) -> str:
    if isinstance(value, tuple):
        return "a list"
    for name, expected in reversed(_KINDS.items()):
        if isinstance(value, expected):
            return name
    return "no value"


def _check_inputs(node: Node, signature: Signature) -> None:
    attributes = {**signature.defaults, **node.attributes}
    expected = [number for argument in signature.inputs for number in argument.types(attributes)]
    operands = node.operands
    if len(operands) != len(expected):
        raise ModelError(f"must have {len(expected)} data inputs, got {len(operands)}")
    for i, (operand, number) in enumerate(zip(operands, expected, strict=True)):
        type = operand.type
        if not isinstance(type, TensorType) or not isinstance(type.element, ElementType):
            continue
        found = type.element.number
        # A reference may be read where a value is wanted, not the other way round.
        if found != number and found != number + REFERENCE:
            raise ModelError(f"input {i} must be of type {number}, got {type.element} ({found})")


def _check_cycles(block: Block) -> None:
    """Only a loop's back edge, from NextIteration to Merge, may close a cycle."""
    waiting: dict[Node, int] = {}
    ready: list[Node] = []
    for node in block:
        count = sum(_counts(value.owner, node) for value in (*node.operands, *node.controls))
        if count:
            waiting[node] = count
        else:
            ready.append(node)
    while ready:
        node = ready.pop()
        tokens = () if node._control is None else node._control.users
        for user in (*(user for value in node.results for user in value.users), *tokens):
            if user in waiting and _counts(node, user):
                waiting[user] -= 1
                if not waiting[user]:
                    del waiting[user]
                    ready.append(user)
    if waiting:
        node = _on_cycle(waiting)
        raise ModelError(f"Node {node.name!r} (op {node.op!r}): {len(waiting)} nodes are or follow a cycle")


def _counts(owner: object, user: Node) -> bool:
    if not isinstance(owner, Node):
        return False
    return not (owner.op in ("NextIteration", "RefNextIteration") and user.op in ("Merge", "RefMerge"))


def _on_cycle(waiting: dict[Node, int]) -> Node:
    """One of the nodes that wait for themselves; the first in the file's order among its cycle."""
    node = next(iter(waiting))
    seen: dict[Node, int] = {}
    path: list[Node] = []
    while node not in seen:
        seen[node] = len(path)
        path.append(node)
        sources = (value.owner for value in (*node.operands, *node.controls))
        node = next(s for s in sources if isinstance(s, Node) and s in waiting and _counts(s, path[-1]))
    cycle = set(path[seen[node] :])
    return next(n for n in waiting if n in cycle)
