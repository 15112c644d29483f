"""Functions that nothing uses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..ir.attributes import Attribute, FuncAttr, RegionAttrs, SymbolAttr
from ..ir.module import Function, Module
from .bodies import Body

PRIVATE = "private"


def privatize(module: Module) -> None:
    """Mark every function as private: only what refers to it uses it.

    Given:  func @f
    Result: func private @f
    """
    for op in module.ops:
        if isinstance(op, Function):
            op.visibility = PRIVATE


def drop_unused_functions(module: Module) -> None:
    """Drop private functions that neither the graph nor a function in use refers to.

    Given:  graph { y = f(x) }; func private @f; func private @g
    Result: graph { y = f(x) }; func private @f
    """
    functions = module.functions
    kept = {id(op): op for op in module.ops if not (isinstance(op, Function) and op.visibility == PRIVATE)}
    waiting = list(kept.values())
    while waiting:
        op = waiting.pop()
        if isinstance(op, Module):
            continue
        for name in references(op):
            function = functions.get(name)
            if function is not None and id(function) not in kept:
                kept[id(function)] = function
                waiting.append(function)
    module.ops = [op for op in module.ops if id(op) in kept]


def references(body: Body) -> Iterator[str]:
    """Names of functions in the attributes of the body and its nodes, and the ops, which may be calls."""
    yield from _named(body.attributes)
    for node in body.body.walk():
        yield node.op
        yield from _named(node.attributes)


def _named(attribute: Attribute) -> Iterator[str]:
    if isinstance(attribute, SymbolAttr):
        yield attribute.name
    elif isinstance(attribute, FuncAttr):
        yield attribute.name
        yield from _named(attribute.attributes)
    elif isinstance(attribute, tuple):
        for item in attribute:
            yield from _named(item)
    elif isinstance(attribute, RegionAttrs):
        yield from _named(attribute.attributes)
    elif isinstance(attribute, Mapping):
        for item in attribute.values():
            yield from _named(item)
