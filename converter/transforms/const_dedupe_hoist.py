"""Small constants that are equal become one."""

from __future__ import annotations

import math
from collections.abc import Hashable

from ..ir.attributes import DenseAttr, FuncAttr, TensorProtoAttr
from ..ir.module import Module
from ..ir.node import Node
from .attribute_key import attributes_key
from .bodies import Body, bodies
from .clone import clone_node
from .purity import CONTROL_FLOW


def dedupe_and_hoist_constants(module: Module, max_size: int = 10, assume_strict_calls: bool = False) -> None:
    """Merge constants of at most max_size elements that differ in names and control operands only.

    Given:  a = Const {value = 1}; b = Const [x.ctl] {value = 1}; y = Neg(b)
    Result: a = Const {value = 1}; y = Neg(a) [x.ctl]

    The one that is left waits for nothing; what used another waits for what that waited for. A call
    may start before all its arguments are there: it gets the constant through an Identity that waits,
    unless assume_strict_calls or the module has no functions. In a graph with V1 control flow,
    constants that wait for something stay. The names of all but one are gone.
    Source: TensorFlow core/transforms/const_dedupe_hoist.
    """
    functions = module.functions
    strict = assume_strict_calls or not functions
    for body in bodies(module):
        for equal in _equal_constants(body, max_size):
            if len(equal) > 1:
                _merge(body, equal, None if strict else frozenset(functions))


def _equal_constants(body: Body, max_size: int) -> list[list[Node]]:
    found: dict[Hashable, list[Node]] = {}
    flows = any(node.op in CONTROL_FLOW for node in body.body)
    for node in body.body.walk():
        value = node.attributes.get("value")
        if node.op != "Const" or not isinstance(value, DenseAttr | TensorProtoAttr):
            continue
        if value.type.shape is None or math.prod(value.type.shape) > max_size:
            continue
        types = tuple(result.type for result in node.results)
        # What a constant waits for may put it into a loop's frame or a branch, which a Merge looks at.
        if flows and node.controls:
            continue
        key = (node.device, node.assigned_device, types, attributes_key(node.attributes))
        found.setdefault(key, []).append(node)
    return list(found.values())


def _merge(body: Body, equal: list[Node], functions: frozenset[str] | None) -> None:
    """functions are those that may be called, None when calls wait for their arguments."""
    top = clone_node(equal[0])
    block = body.body
    place = equal[0] if equal[0].block is block else block.first
    assert place is not None
    block.insert_before(place, top)
    for node in equal:
        if functions is not None and _feeds_call(node, functions):
            node.replace_with(_identity(node, top))
        else:
            for user in _users(node):
                _wait_instead(user, node, top)
            node.replace_with(top)
        node.erase()


def _wait_instead(user: Node, node: Node, top: Node) -> None:
    """Let the user wait for what the node waited for; the constant itself it need not name twice."""
    controls = dict.fromkeys(token for token in user.controls if token is not node.control)
    if len(controls) < len(user.controls):
        controls[top.control] = None
    controls |= dict.fromkeys(node.controls)
    if any(value.owner in (node, top) for value in user.operands):
        controls.pop(top.control, None)
    user.controls = controls


def _users(node: Node) -> list[Node]:
    return list(dict.fromkeys((*(u for value in node.results for u in value.users), *node.control.users)))


def _feeds_call(node: Node, functions: frozenset[str]) -> bool:
    return any(
        user.op in functions or any(isinstance(held, FuncAttr) for held in user.attributes.values())
        for user in _users(node)
    )


def _identity(node: Node, top: Node) -> Node:
    """A node that gives the constant once what the other waited for has run."""
    name = f"const_dedupe_hoist/{node.name}" if node.name else ""
    types = [value.type for value in node.results]
    attributes = {key: held for key, held in node.attributes.items() if key not in ("value", "dtype")}
    if "dtype" in node.attributes:
        attributes["T"] = node.attributes["dtype"]
    made = Node("Identity", name, types, attributes, node.device, node.assigned_device)
    assert node.block is not None
    node.block.insert_before(node, made)
    made.operands, made.controls = top.results, dict.fromkeys(node.controls)
    return made
