"""Verification of control flow by functions: If, Case, While and For."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .attributes import Attribute, FuncAttr
from .fault import op_fault, see_function
from .module import Function
from .node import Node, Value
from .types import CONTROL, OPAQUE, ElementType, TensorType, Type, compatible

_IF = ("If", "StatelessIf", "StatefulIf")
_CASE = ("Case", "StatelessCase", "StatefulCase")
_WHILE = ("While", "StatelessWhile", "StatefulWhile")
FUNCTIONAL_OPS = frozenset((*_IF, *_CASE, *_WHILE, "For"))
_CONDITION: list[Type] = [TensorType(ElementType("i1"))]


def verify_functional(node: Node, functions: Mapping[str, Function]) -> None:
    """ModelError when the node does not fit the functions it names, as far as they are known."""
    if any(value.type is OPAQUE for value in (*node.operands, *node.results)):
        return
    results = [value.type for value in node.results]
    if node.op in _IF:
        data = node.operands[1:]
        _check_dtypes(node, "Tin", "Tout", data)
        for name in ("then", "else"):
            _check_call(node, node.attributes.get(f"{name}_branch"), name, data, results, functions)
    elif node.op in _CASE:
        data = node.operands[1:]
        _check_dtypes(node, "Tin", "Tout", data)
        branches = node.attributes.get("branches")
        for i, branch in enumerate(branches if isinstance(branches, tuple) else ()):
            _check_call(node, branch, f"branch #{i}", data, results, functions)
    elif node.op in _WHILE:
        _check_dtypes(node, "T", "T", node.operands)
        _check_call(node, node.attributes.get("cond"), "cond", node.operands, _CONDITION, functions)
        _check_call(node, node.attributes.get("body"), "body", node.operands, results, functions)
    else:
        _check_dtypes(node, "T", "T", node.operands[3:])
        # The body takes an index like the step, then the data.
        _check_call(node, node.attributes.get("body"), "body", node.operands[2:], results, functions)


def _check_call(
    node: Node,
    func: Attribute | None,
    name: str,
    operands: Sequence[Value],
    results: list[Type],
    functions: Mapping[str, Function],
) -> None:
    if not isinstance(func, FuncAttr):
        raise op_fault(node, f"has no function for {name!r}")
    function = functions.get(func.name)
    if function is None or function.generic:
        return
    see = see_function(function)
    arguments = [value.type for value in function.arguments]
    if len(arguments) != len(operands):
        raise op_fault(
            node, f"{name} function has {len(arguments)} arguments but was provided {len(operands)}{see}"
        )
    for i, (type, value) in enumerate(zip(arguments, operands, strict=True)):
        if not compatible(type, value.type):
            raise op_fault(
                node,
                f"{name} function argument #{i} type '{type}' is not compatible with "
                f"corresponding operand type: '{value.type}'{see}",
            )
    given = [type for type in function.result_types if type is not CONTROL]
    if len(given) != len(results):
        raise op_fault(node, f"{name} function has {len(given)} results but expected {len(results)}{see}")
    for i, (type, expected) in enumerate(zip(given, results, strict=True)):
        if not compatible(type, expected):
            raise op_fault(
                node,
                f"{name} function result #{i} type '{type}' is not compatible with "
                f"corresponding result type: '{expected}'{see}",
            )


def _check_dtypes(node: Node, inputs: str, outputs: str, data: Sequence[Value]) -> None:
    _check_listed(node, node.attributes.get(inputs), data, "argument")
    _check_listed(node, node.attributes.get(outputs), node.results, "result")


def _check_listed(node: Node, types: Attribute | None, values: Sequence[Value], what: str) -> None:
    if not isinstance(types, tuple):
        return
    if len(types) != len(values):
        raise op_fault(node, f"has {len(values)} {what}s but {len(types)} {what} types")
    for i, (type, value) in enumerate(zip(types, values, strict=True)):
        if not isinstance(type, ElementType) or not isinstance(value.type, TensorType):
            continue
        if not compatible(TensorType(type), TensorType(value.type.element)):
            raise op_fault(node, f"{what} #{i} is incompatible with dtype '{type}', got: '{value.type}'")
