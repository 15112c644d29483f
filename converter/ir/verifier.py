"""Verification of modules: what every graph, function and node must hold."""

from __future__ import annotations

from collections.abc import Mapping

from .fault import op_fault, scope_fault
from .module import Function, Graph, Module
from .node import GET_RESULT, REGION_OPS, RETURN, TERMINATORS, Block, Node
from .types import CONTROL
from .verify_functional import FUNCTIONAL_OPS, verify_functional
from .verify_region import verify_region_op


def verify(module: Module) -> None:
    """ModelError when the module breaks a rule, naming the node and, for a text, the line."""
    functions: dict[str, Function] = {}
    for op in module.ops:
        if isinstance(op, Function):
            if op.name in functions:
                raise scope_fault(op, f"redefinition of symbol named {op.name!r}")
            functions[op.name] = op
    for op in module.ops:
        if isinstance(op, Module):
            verify(op)
        elif isinstance(op, Graph):
            _verify_block(op.body, functions, ())
            _verify_graph(op)
        else:
            _verify_function(op, functions)


def _verify_graph(graph: Graph) -> None:
    for node in graph.body:
        if node.op in TERMINATORS or node.op == GET_RESULT:
            raise op_fault(node, "may not stand in a graph")


def _verify_function(function: Function, functions: Mapping[str, Function]) -> None:
    body = function.body
    if body.last is None:
        raise scope_fault(function, "expects a non-empty block")
    if len(body.arguments) != 2 * len(function.argument_attributes):
        raise scope_fault(function, "expects each argument to have a control token")
    for i, value in enumerate(body.arguments):
        if value.is_control != bool(i % 2):
            raise scope_fault(function, "expects arguments to be pairs of a value and a control token")
    if body.last.op != RETURN:
        found = f"tfg.{body.last.op}"
        raise scope_fault(function, f"expects body to be terminated with a tfg.return, but got: {found}")
    _verify_block(body, functions, ())
    for node in body.walk():
        if node.op == GET_RESULT and not function.generic:
            raise op_fault(node, "may only stand in a generic function")
    _verify_return(body.last, function)


def _verify_return(node: Node, function: Function) -> None:
    expected = [type for type in function.result_types if type is not CONTROL]
    if len(expected) != len(node.operands):
        raise op_fault(
            node,
            f"expects {len(expected)} returned values but tfg.return has {len(node.operands)} operands",
        )
    for i, (type, value) in enumerate(zip(expected, node.operands, strict=True)):
        if type != value.type:
            raise op_fault(
                node, f"type mismatch for returned value #{i}, expected '{type}' but got '{value.type}'"
            )
    tokens = len(function.result_types) - len(expected)
    if tokens and tokens != len(node.controls):
        raise op_fault(node, f"expects {tokens} control results but got {len(node.controls)}")
    attributes = node.attributes.get("control_ret_attrs", ())
    if not isinstance(attributes, tuple) or (
        (attributes or node.controls) and (len(attributes) != len(node.controls))
    ):
        raise op_fault(node, "expected as many control result attributes as there are control operands")


def _verify_block(block: Block, functions: Mapping[str, Function], around: tuple[Block, ...]) -> None:
    seen = (*around, block)
    for node in block:
        if node.op in TERMINATORS and node is not block.last:
            raise op_fault(node, "must be the last node of its block")
        for i, value in enumerate((*node.operands, *node.controls)):
            home = value.owner.block if isinstance(value.owner, Node) else value.owner
            if home not in seen:
                raise op_fault(node, f"operand #{i} is a value of another graph, function or region")
            if value.is_control != (i >= len(node.operands)):
                raise op_fault(node, f"operand #{i} must {'' if value.is_control else 'not '}be data")
        if node.op in REGION_OPS and node.regions:
            for region in node.regions:
                _verify_block(region, functions, seen)
            verify_region_op(node)
        elif node.op in FUNCTIONAL_OPS:
            verify_functional(node, functions)
