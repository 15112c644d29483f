"""NodeRewriter: what rules of TensorFlow's nodes change a graph with, and what must wait for what."""

from __future__ import annotations

from collections.abc import Iterable

from ..graph.rewriter import Rewriter
from ..ir.arity import has_arity
from ..ir.attributes import Attributes, DenseAttr
from ..ir.node import Node, Value
from ..ir.types import REFERENCE, ElementType, TensorType, Type, element_type
from .bodies import token_of
from .purity import is_reference

_SWITCHES = ("Switch", "RefSwitch", "_SwitchN")
# Attributes that a node keeps whatever its op becomes start with this.
_OWN = "_"


class NodeRewriter(Rewriter[Node]):
    """Changes the nodes of one graph or function, not those of regions in it.

    copy_op passes a value on that a node would have made anew. infers says that shapes are inferred again
    for what is changed: results that have an operand's shape, whatever it is, then may become the operand.
    """

    copy_op = "Snapshot"
    infers = False
    # Whether a sum of a difference's parts is an Add, as Grappler spells it, and not an AddV2.
    adds_by_add = False
    # Whether a NaN or infinity times 0 must stay one.
    keeps_nan = False
    # Whether what rounds constants as quantized ones are stays to be seen by others.
    keeps_emulation = False

    def is_open(self, node: Node) -> bool:
        """Whether rules are asked about the node: it has all its operands, of known types, and no regions."""
        if node.block is not self.block or node.regions or not has_arity(node):
            return False
        return all(_has_element(value.type) for value in node.operands)

    def is_kept(self, node: Node) -> bool:
        """Whether the node must run as what it is: by its name, or as a control result of the function."""
        return node in self.kept or any(user.op == "return" for user in node.control.users)

    def is_named(self, node: Node) -> bool:
        """Whether the node's results are asked for by its name: another one may not give what they are."""
        return self.is_kept(node)

    def wait_for(self, value: Value) -> Value:
        """A token that is there when the value is.

        A Switch gives one of its results only: an Identity of the result has the token.
        """
        owner = value.owner
        if not isinstance(owner, Node) or owner.op not in _SWITCHES:
            return token_of(value)
        for user in value.users:
            if user.op == "Identity" and not user.results[0].users:
                return user.control
        name = f"{owner.name}/ControlDependencyCtrl_{value.index}" if owner.name else ""
        attributes: Attributes = {"T": owner.attributes["T"]} if "T" in owner.attributes else {}
        anchor = Node("Identity", name, [value.type], attributes, owner.device, owner.assigned_device)
        self.insert_before(owner, anchor)
        self.set_operands(anchor, [value])
        return anchor.control

    def waits_for_operands(self, node: Node, but: Value | None = None) -> list[Value]:
        """Tokens of all operands but one, then those that the node waits for."""
        return [*(self.wait_for(value) for value in node.operands if value is not but), *node.controls]

    def constant(
        self, before: Node, name: str, value: DenseAttr, controls: Iterable[Value], like: Node | None = None
    ) -> Node:
        """A new Const in front of a node, on the node's device."""
        like = before if like is None else like
        attributes: Attributes = {key: held for key, held in like.attributes.items() if key.startswith(_OWN)}
        attributes |= {"dtype": value.type.element, "value": value}
        made = Node("Const", name, [value.type], attributes, like.device, like.assigned_device)
        self.insert_before(before, made)
        made.controls = controls
        return made

    def replace_with_constant(self, node: Node, value: DenseAttr) -> None:
        """The constant has the node's name and waits for its operands."""
        made = self.constant(node, node.name, value, self.waits_for_operands(node))
        self.replace(node, made)

    def replace_with_operand(self, node: Node, index: int) -> None:
        """An Identity of the operand, which waits for the others."""
        kept = node.operands[index]
        made = self.node(node, "Identity", [kept], {"T": data_type(kept.type)})
        made.results[0].type = value_type(kept.type)
        made.controls = self.waits_for_operands(node, kept)
        self.replace(node, made)

    def node(self, node: Node, op: str, operands: Iterable[Value], attributes: Attributes) -> Node:
        """A new node before the node, with its name, device, result types and own attributes."""
        held = {key: value for key, value in node.attributes.items() if key.startswith(_OWN)} | attributes
        types = [value.type for value in node.results]
        made = Node(op, node.name, types, held, node.device, node.assigned_device)
        made.location, made.line = node.location, node.line
        self.insert_before(node, made)
        self.set_operands(made, operands)
        made.controls = node.controls
        return made

    def replace(self, node: Node, made: Node) -> None:
        """The node's uses become the new one's; results beyond the new one's must be unused."""
        for old, new in zip(node.results, made.results, strict=False):
            self.replace_value(old, new)
        self.replace_value(node.control, made.control)
        self.changed(made)
        self.erase(node)


def value_type(type: Type) -> Type:
    """The type without its reference: what is read from a variable."""
    if not isinstance(type, TensorType) or not is_reference(type):
        return type
    return TensorType(data_type(type), type.shape)


def _has_element(type: Type) -> bool:
    """False of what an unknown op gives."""
    return isinstance(type, TensorType) and isinstance(type.element, ElementType)


def data_type(type: Type) -> ElementType:
    """A tensor's element type without a reference."""
    assert isinstance(type, TensorType) and isinstance(type.element, ElementType)
    if not is_reference(type):
        return type.element
    return element_type(type.element.number - REFERENCE)


def shape_of(value: Value) -> tuple[int, ...] | None:
    """The value's shape when every size is known."""
    if not isinstance(value.type, TensorType) or value.type.shape is None or -1 in value.type.shape:
        return None
    return value.type.shape


def rank_of(value: Value) -> int | None:
    shape = value.type.shape if isinstance(value.type, TensorType) else None
    return None if shape is None else len(shape)
