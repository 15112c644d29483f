"""Functions that are given variables become each caller's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...lite.errors import ModelError
from ..ir.attributes import Attribute, FuncAttr
from ..ir.module import Function, Module
from ..ir.node import Node
from ..ir.types import ElementType, TensorType
from ..transforms.bodies import Body
from ..transforms.clone import clone_function
from ..transforms.inline import fresh_name
from ..transforms.purity import is_reference
from .resources import FUNCTIONAL, called_functions

# No model needs as many; functions that lead to each other make as many as one likes.
MOST_COPIED = 1 << 17


def copy_shared_functions(module: Module) -> None:
    """Give every node that hands a resource to a function a function of its own.

    Given:  If(c, v) {then_branch = @f}; If(c, w) {then_branch = @f}, with resources v and w
    Result: If(c, v) {then_branch = @f}; If(c, w) {then_branch = @f_1}, and a copy @f_1 of @f

    A function that leads to itself again stays shared there. ModelError when the copies would have
    more than MOST_COPIED nodes.
    """
    assert module.graph is not None
    functions = module.functions
    room = MOST_COPIED
    _check_growth(module.graph, functions)
    names = dict.fromkeys(functions, 0)
    used: set[str] = set()
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
                raise _too_many()
            function = clone_function(function)
            function.name = name = fresh_name(name, names)
            functions[name] = function
            module.ops.append(function)
        used.add(name)
        waiting.append((function, path | {attribute.name, name}))
        return FuncAttr(name, attribute.attributes)

    while waiting:
        body, path = waiting.pop()
        for node in _givers(body):
            for key in FUNCTIONAL[node.op][0]:
                if key in node.attributes:
                    node.attributes[key] = own(node.attributes[key], path)


def _check_growth(root: Body, functions: Mapping[str, Function]) -> None:
    """Count the nodes of all copies, looking at each function once."""
    sizes: dict[int, int] = {}
    waiting: list[tuple[Body, bool]] = [(root, False)]
    begun: set[int] = set()
    while waiting:
        body, is_known = waiting.pop()
        called = [function for node in _givers(body) for function in called_functions(node, functions)]
        if is_known:
            # What is not known yet is being counted: the function leads to itself.
            sizes[id(body)] = len(body.body) + sum(sizes.get(id(function), 0) for function in called)
        elif id(body) not in begun:
            begun.add(id(body))
            waiting.append((body, True))
            waiting += [(function, False) for function in called if id(function) not in begun]
    if sizes[id(root)] - len(root.body) > MOST_COPIED + sum(len(f.body) for f in functions.values()):
        raise _too_many()


def _too_many() -> ModelError:
    return ModelError(f"functions: the copies for their variables would have more than {MOST_COPIED} nodes")


def _givers(body: Body) -> Iterator[Node]:
    """The nodes that give resources to functions."""
    for node in body.body:
        if node.op in FUNCTIONAL and any(_is_resource(value.type) for value in node.operands):
            yield node


def _is_resource(type: object) -> bool:
    if not isinstance(type, TensorType) or not isinstance(type.element, ElementType):
        return False
    return type.element.name == "resource" or is_reference(type)
