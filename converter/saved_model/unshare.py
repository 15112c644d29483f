"""Functions that are given variables become each caller's own."""

from __future__ import annotations

from ...lite.errors import ModelError
from ..ir.attributes import Attribute, FuncAttr
from ..ir.module import Module
from ..ir.types import ElementType, TensorType
from ..transforms.bodies import Body
from ..transforms.clone import clone_function
from ..transforms.inline import MOST_NODES, fresh_name
from ..transforms.purity import is_reference
from .resources import FUNCTIONAL


def unshare(module: Module) -> None:
    """Give every node that hands a resource to a function a function of its own.

    Given:  If(c, v) {then_branch = @f}; If(c, w) {then_branch = @f}, with resources v and w
    Result: If(c, v) {then_branch = @f}; If(c, w) {then_branch = @f_1}, and a copy @f_1 of @f
    """
    functions = module.functions
    names = set(functions)
    used: set[str] = set()
    room = MOST_NODES
    assert module.graph is not None
    waiting: list[tuple[Body, frozenset[str]]] = [(module.graph, frozenset())]

    def own(attribute: Attribute, path: frozenset[str]) -> Attribute:
        nonlocal room
        if isinstance(attribute, tuple):
            return tuple(own(item, path) for item in attribute)
        if not isinstance(attribute, FuncAttr) or attribute.name not in functions or attribute.name in path:
            return attribute
        function, name = functions[attribute.name], attribute.name
        if name in used:
            room -= len(function.body)
            if room < 0:
                raise ModelError(f"function '{name}': its copies would have more than {MOST_NODES} nodes")
            function = clone_function(function)
            function.name = name = fresh_name(name, names)
            functions[name] = function
            module.ops.append(function)
        used.add(name)
        waiting.append((function, path | {attribute.name, name}))
        return FuncAttr(name, attribute.attributes)

    while waiting:
        body, path = waiting.pop()
        for node in body.body:
            if node.op in FUNCTIONAL and any(map(_is_resource, (value.type for value in node.operands))):
                for key in FUNCTIONAL[node.op][0]:
                    if key in node.attributes:
                        node.attributes[key] = own(node.attributes[key], path)


def _is_resource(type: object) -> bool:
    if not isinstance(type, TensorType) or not isinstance(type.element, ElementType):
        return False
    return type.element.name == "resource" or is_reference(type)
