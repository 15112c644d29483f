"""loop: loops that are never entered, and branches that a constant chooses."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

import numpy as np

from ..graph.rule import rule
from ..ir.attributes import Attributes, FuncAttr
from ..ir.module import Function
from ..ir.node import Node, Value
from ..transforms.effects import Effect, Effects
from ..transforms.folding.control_flow import branch_call
from ..transforms.folding.evaluate import run
from ..transforms.folding.tensors import array_of_constant, known_array
from ..transforms.node_rewriter import data_type
from ..transforms.purity import ENTERS, is_pure
from .needed import drop
from .rewriter import OptimizingRewriter

_SOURCE = "TensorFlow core/grappler/optimizers/loop_optimizer.cc"
_COMPARISONS = ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual")
_EXITS, _MERGES = ("Exit", "RefExit"), ("Merge", "RefMerge")
# Conditions are looked into so far.
_DEEPEST = 20


@rule("LoopCond", source=_SOURCE)
def remove_idle_loop(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A loop of the first version whose condition, a constant or a comparison with one, is false at first.

    Given:  m = Merge(Enter(5), NextIteration(..)); c = LoopCond(Less(m, 3)); s = Switch(m, c); y = Exit(s)
    Result: y = Identity(5)

    Not with a preserved node or ControlTrigger in it, nor where the condition changes state, which runs once.
    """
    first = _at_first(node.operands[0])
    if first is None or first.shape != () or bool(first):
        return False
    ends: dict[Node, Node] = {}
    frames: set[object] = set()
    switches = dict.fromkeys(node.results[0].users)
    for switch in switches:
        enter = _entering(switch.operands[0]) if switch.op == "Switch" else None
        if enter is None or any(user.op not in _EXITS or user.controls for user in switch.results[0].users):
            return False
        frames.add(enter.attributes.get("frame_name"))
        ends |= dict.fromkeys(switch.results[0].users, enter)
    gone = _inside(rewriter, frames, switches, ends)
    if gone is None:
        return False
    for end, enter in ends.items():
        attributes: Attributes = {"T": data_type(enter.operands[0].type)}
        types = [end.results[0].type]
        made = rewriter.add(end, "Identity", end.name, enter.operands, attributes, types, enter.controls)
        rewriter.replace(end, made)
    drop(gone)
    return True


def _at_first(value: Value) -> np.ndarray | None:
    """What a condition is before the first round, None when nobody knows."""
    owner = value.owner
    if not isinstance(owner, Node) or owner.op not in _COMPARISONS:
        return known_array(value)
    operands = [_first_constant(operand) for operand in owner.operands]
    known = [array for array in operands if array is not None]
    return None if len(known) != len(operands) else _computed(owner, known)


def _first_constant(value: Value) -> np.ndarray | None:
    enter = _entering(value) or value.owner
    if isinstance(enter, Node) and enter.op in ENTERS:
        return known_array(enter.operands[0])
    return known_array(value)


def _entering(value: Value) -> Node | None:
    """The Enter of a loop variable's Merge, None for anything else."""
    merge = value.owner
    if not isinstance(merge, Node) or merge.op not in _MERGES or value.index != 0:
        return None
    owners = [operand.owner for operand in merge.operands]
    return next((each for each in owners if isinstance(each, Node) and each.op in ENTERS), None)


def _inside(
    rewriter: OptimizingRewriter, frames: set[object], switches: Iterable[Node], ends: Mapping[Node, Node]
) -> list[Node] | None:
    """All nodes of the loop with these Switches but its ends; None where one of them must stay."""
    if len(frames) != 1:
        return None
    [frame] = frames
    nodes = list(rewriter.item.nodes())
    waiting = [each for each in nodes if each.op in ENTERS and each.attributes.get("frame_name") == frame]
    merges = {switch.operands[0].owner for switch in switches}
    users = [user for enter in waiting for user in enter.results[0].users]
    if any(user.op in _MERGES and user not in merges for user in users):
        return None
    entered = [user for switch in switches for user in switch.results[1].users]
    once = _behind(waiting, {*ends, *entered})
    effects = Effects(rewriter.item.module.functions)
    found = _behind([*once, *entered], ends)
    if any(effects.of(each) == Effect.WRITES for each in once) or any(
        rewriter.is_named(each) or each.op in ("ControlTrigger", "return") or each.regions for each in found
    ):
        return None
    return found


def _behind(nodes: Iterable[Node], ends: Container[Node]) -> list[Node]:
    """These nodes and all behind them, up to the ends."""
    waiting, found = list(nodes), dict[Node, None]()
    while waiting:
        each = waiting.pop()
        if each not in found and each not in ends:
            found[each] = None
            waiting += each.neighbours_behind()
    return list(found)


@rule("If", "StatelessIf", source=_SOURCE)
def constant_if(rewriter: OptimizingRewriter, node: Node) -> bool:
    """An If whose branch is known calls it.

    Given:  y = If(true, x) {then_branch = @f, else_branch = @g}
    Result: y = StatefulPartitionedCall(x) {f = @f}
    """
    condition = known_array(node.operands[0])
    if (
        condition is None
        or condition.shape != ()
        or condition.dtype.kind not in "biuf"
        or rewriter.is_kept(node)
    ):
        return False
    chosen = node.attributes.get("then_branch" if bool(condition) else "else_branch")
    if not isinstance(chosen, FuncAttr):
        return False
    op = "StatefulPartitionedCall" if node.op == "If" else "PartitionedCall"
    made = rewriter.node(node, op, node.operands[1:], branch_call(node, chosen))
    owner = node.operands[0].owner
    assert isinstance(owner, Node)
    made.controls = dict.fromkeys((*node.controls, *owner.controls))
    rewriter.replace(node, made)
    return True


@rule("While", "StatelessWhile", source=_SOURCE)
def idle_while(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A While whose condition is false at first gives what it is given.

    Given:  i, y = While(5, x) {cond = @c, body = @b}; func @c(i, y) { return Less(i, 3) }
    Result: i, y = IdentityN(5, x)
    """
    held, functions = node.attributes.get("cond"), rewriter.item.module.functions
    condition = functions.get(held.name) if isinstance(held, FuncAttr) else None
    if condition is None or condition.generic or rewriter.is_kept(node) or not node.operands:
        return False
    if Effects(functions).of_function(condition.name) != Effect.NONE:
        return False
    first = _given(condition, node.operands)
    if first is None or first.shape != () or first.dtype.kind not in "biuf" or bool(first):
        return False
    attributes: Attributes = {"T": tuple(data_type(value.type) for value in node.operands)}
    rewriter.replace(node, rewriter.node(node, "IdentityN", node.operands, attributes))
    return True


def _given(function: Function, operands: Sequence[Value]) -> np.ndarray | None:
    """The function's first result, where it depends on constants among the operands alone."""
    end = function.terminator
    if end is None or not end.operands or len(function.arguments) != len(operands):
        return None
    return _value(end.operands[0], dict(zip(function.arguments, operands, strict=True)), 0)


def _value(value: Value, operands: Mapping[Value, Value], depth: int) -> np.ndarray | None:
    owner = value.owner
    if not isinstance(owner, Node):
        return known_array(operands[value]) if value in operands else None
    if owner.op == "Const":
        return known_array(value)
    if value.index or depth > _DEEPEST or not owner.operands or not is_pure(owner):
        return None
    found = [_value(each, operands, depth + 1) for each in owner.operands]
    known = [array for array in found if array is not None]
    return _computed(owner, known) if len(known) == len(found) else None


def _computed(node: Node, operands: list[np.ndarray]) -> np.ndarray | None:
    elements = [data_type(value.type) for value in node.results]
    found = run(node.op, node.attributes, operands, elements)
    return None if found is None else array_of_constant(found[0])
