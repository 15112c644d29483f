"""Functional If, Case and While become nodes of the first version: Switch and Merge, and loops of them."""

from __future__ import annotations

from collections.abc import Container

from ...lite.errors import ModelError
from ..ir.attributes import Attribute, FuncAttr
from ..ir.module import Function, Module
from ..ir.node import Block, Node
from ..ir.types import ElementType, TensorType, Type
from .effects import Effects
from .inline import MOST_NODES, frames_of
from .instantiate import Instances
from .lower_conditionals import lower_conditional
from .lower_loops import lower_loop
from .lowering import BOOL, INT32, Lowering, Surroundings
from .node_rewriter import data_type
from .purity import CONTROL_FLOW

MARK = "_lower_using_switch_merge"
_IFS, _CASES, _LOOPS = ("If", "StatelessIf"), ("Case", "StatelessCase"), ("While", "StatelessWhile")
FUNCTIONAL = frozenset((*_IFS, *_CASES, *_LOOPS))


def lower_control_flow(
    module: Module, block: Block, keep: Container[str] = (), leave: Container[str] = ()
) -> list[str]:
    """Lower the marked nodes of a block, with those that this brings; returns their names.

    Given:  y = If(p, x) {then_branch = @f, else_branch = @g, _lower_using_switch_merge = true}
    Result: no, yes = Switch(x, p); y, _ = Merge(g(no), f(yes)), with the nodes of f and g

    What runs, in which order, and what is dead in a branch or loop around stays as it was; the raising of
    conditionals and loops is the way back. Nodes in keep leave an IdentityN of their name, which gives their
    results, or a NoOp. Nodes that name functions in leave stay, and those whose conditions are no scalar
    bools, or indices no int32. ModelError when a node does not fit its functions, or all would make
    more than MOST_NODES nodes.
    Source: TensorFlow core/common_runtime/lower_functional_ops.cc.
    """
    instances = Instances(module)
    effects = Effects(instances.functions)
    names = dict.fromkeys((node.name for node in block), 0)
    frames = frames_of(block)
    lowered: list[str] = []
    most = len(names) + MOST_NODES
    while True:
        found = [(node, _functions(node, instances, leave)) for node in block]
        held = [(node, functions) for node, functions in found if functions]
        if not held:
            return lowered
        if len(found) + sum(len(f.body) for _, functions in held for f in functions) > most:
            raise ModelError(
                f"branches and loops: lowered, they must make at most {MOST_NODES:,} nodes, got more"
            )
        framed = any(node.op in CONTROL_FLOW for node in block)
        around = Surroundings(effects, names, frames, framed)
        for node, functions in held:
            lower = lower_loop if node.op in _LOOPS else lower_conditional
            lower(Lowering(node, around, node.name in keep), functions)
            lowered.append(node.name)


def _functions(node: Node, instances: Instances, leave: Container[str]) -> list[Function]:
    """The branches, by the index that chooses them, or condition and body of a node that is lowered."""
    if node.op not in FUNCTIONAL or not node.attributes.get(MARK) or not _has_types(node):
        return []
    found: list[Function] = []
    for each in _held(node):
        function = instances.find(each) if isinstance(each, FuncAttr) and each.name not in leave else None
        if function is None:
            return []
        found.append(function)
    if node.op in _LOOPS:
        result = found[0].terminator
        return (
            found
            if result is not None and result.operands and _is_scalar(result.operands[0].type, BOOL)
            else []
        )
    return found if _is_scalar(node.operands[0].type, BOOL if node.op in _IFS else INT32) else []


def _held(node: Node) -> tuple[Attribute | None, ...]:
    if node.op in _CASES:
        branches = node.attributes.get("branches")
        return branches if isinstance(branches, tuple) else ()
    names = ("cond", "body") if node.op in _LOOPS else ("else_branch", "then_branch")
    return tuple(map(node.attributes.get, names))


def _has_types(node: Node) -> bool:
    values = (*node.operands, *node.results)
    is_typed = all(isinstance(v.type, TensorType) and isinstance(v.type.element, ElementType) for v in values)
    return is_typed and bool(node.operands)


def _is_scalar(type: Type, element: ElementType) -> bool:
    return isinstance(type, TensorType) and data_type(type) == element and type.shape in (None, ())
