"""Functions that nothing uses."""

from __future__ import annotations

from ..ir.module import Function, Module
from .function_references import references

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
