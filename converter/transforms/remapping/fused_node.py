"""What the rules share: where nodes run, who uses them, and fused nodes in their place."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...ir.arity import has_arity
from ...ir.attributes import Attributes
from ...ir.node import Node, Value
from ...ir.signature import registered
from ...ir.types import ElementType, TensorType
from ..node_rewriter import NodeRewriter

_DEVICE = re.compile(r"(?:^|/)(?:device:)?(cpu|gpu):(?:\d+|\*)$", re.IGNORECASE)


class FusingRewriter(NodeRewriter):
    """Puts fused nodes in the place of others. onednn: also those that CPUs with oneDNN have."""

    onednn = False

    def is_wanted(self, op: str, element: str) -> bool:
        """Whether fused nodes of an op and element type may be made."""
        return True

    def put_in_place(
        self, node: Node, op: str, operands: Iterable[Value], attributes: Attributes, *fused: Node
    ) -> bool:
        """A node of the op for the node, which also waits for what the fused ones waited for. True."""
        types = [value.type for value in node.results]
        made = Node(op, node.name, types, attributes, node.device, node.assigned_device)
        made.location, made.line = node.location, node.line
        self.insert_before(node, made)
        self.set_operands(made, operands)
        made.controls = dict.fromkeys(token for each in (node, *fused) for token in each.controls)
        self.replace(node, made)
        return True


def device_of(node: Node) -> str:
    """Kind of the device that the node is on ("cpu", "gpu"), "" when it does not say."""
    found = _DEVICE.search(node.assigned_device or node.device)
    return found[1].lower() if found else ""


def source(value: Value, ops: Iterable[str]) -> Node | None:
    """The node that gives the value as its first result, if it is of one of the ops."""
    owner = value.owner
    if isinstance(owner, Node) and value.index == 0 and owner.op in ops and has_arity(owner):
        return owner
    return None


def only_use(value: Value) -> bool:
    """Whether one node alone uses the value, and nothing the token that comes with it."""
    owner = value.owner
    return isinstance(owner, Node) and len(value.users) == 1 and not owner.control.users


def element(value: Value) -> str:
    """Name of the value's element type, "" when it has none."""
    type = value.type
    if isinstance(type, TensorType) and isinstance(type.element, ElementType):
        return type.element.name
    return ""


def known_attributes(op: str, *groups: Attributes) -> Attributes:
    """The op's defaults and what the groups say of its attributes, the last first; own attributes stay."""
    signature = registered(op)
    assert signature is not None
    names = {rule.name for rule in signature.attributes}
    found: Attributes = dict(signature.defaults)
    for group in groups:
        found |= {name: held for name, held in group.items() if name in names or name.startswith("_")}
    return found
