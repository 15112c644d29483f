"""pruning: what nothing needs goes, and nodes that only pass a value on."""

from __future__ import annotations

from ..graph.rule import rule
from ..ir.node import Node, Value
from ..ir.types import OPAQUE
from ..transforms.purity import is_reference
from .called import called_name
from .needed import drop, unneeded_nodes
from .rewriter import OptimizingRewriter
from .turn import Turn

_SOURCE = "TensorFlow core/grappler/optimizers/model_pruner.cc"
_SWITCHES = ("Switch", "RefSwitch", "_SwitchN")
_MERGES = ("Merge", "RefMerge")


def prune(turn: Turn) -> None:
    """Drop what no preserved node needs, and nodes that pass one value on."""
    drop_unneeded(turn)
    turn.rewrite((split_identity_n, skip_pass_on, drop_idle), shapes=False)
    drop_unneeded(turn)


def drop_unneeded(turn: Turn) -> None:
    """Drop what no preserved node needs."""
    gone = unneeded_nodes(turn.item)
    for node in gone:
        turn.count("drop_unneeded", node.label)
    drop(gone)


@rule("Identity", "IdentityN", "StopGradient", "PreventGradient", "AddN", source=_SOURCE)
def skip_pass_on(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Takes out what passes its only operand on.

    Given:  i = Identity(x); y = Neg(i)
    Result: y = Neg(x)

    So do IdentityN and AddN of one, StopGradient and PreventGradient. Not with control edges, behind a
    Switch, before a Merge, next to a call, nor where a device or a reference changes.
    """
    if len(node.operands) != 1 or len(node.results) != 1 or rewriter.is_named(node):
        return False
    operand = node.operands[0]
    if node.controls or node.control.users or not node.results[0].users or not _may_pass(rewriter, operand):
        return False
    owner = operand.owner
    if isinstance(owner, Node) and _device(owner) != _device(node):
        return False
    for user in node.results[0].users:
        if user.op in _MERGES or _is_call(rewriter, user) or _device(user) != _device(node):
            return False
    rewriter.replace_value(node.results[0], operand)
    rewriter.erase(node)
    return True


@rule("IdentityN", source=_SOURCE)
def split_identity_n(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Gives the inputs of an IdentityN whose results lead nowhere an Identity of their own, if they are
    asked for.

    Given:  a, b = IdentityN(x, y); z = Neg(a)
    Result: a = IdentityN(x); z = Neg(a)
    """
    if len(node.operands) < 2 or len(node.operands) != len(node.results) or rewriter.is_named(node):
        return False
    kept = [i for i, value in enumerate(node.results) if value.users]
    if len(kept) == len(node.results) or not kept or node.control.users:
        return False
    types = node.attributes.get("T")
    operands = [node.operands[i] for i in kept]
    node.keep_results(kept)
    if isinstance(types, tuple):
        node.attributes["T"] = tuple(types[i] for i in kept)
    rewriter.set_operands(node, operands)
    return True


@rule("NoOp", "Const", source=_SOURCE)
def drop_idle(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Takes out a NoOp without inputs, and a constant that others only wait for.

    Given:  n = NoOp; c = Const; y = Neg(x) [^n, ^c]
    Result: y = Neg(x)
    """
    if rewriter.is_named(node) or node.controls or any(value.users for value in node.results):
        return False
    if any(user.op == "return" for user in node.control.users):
        return False
    for user in list(dict.fromkeys(node.control.users)):
        user.controls = [token for token in user.controls if token is not node.control]
        rewriter.changed(user)
    rewriter.erase(node)
    return True


def _may_pass(rewriter: OptimizingRewriter, operand: Value) -> bool:
    """Whether users may have the operand itself."""
    owner = operand.owner
    if operand.type is OPAQUE or is_reference(operand.type):
        return False
    return not isinstance(owner, Node) or not (owner.op in _SWITCHES or _is_call(rewriter, owner))


def _is_call(rewriter: OptimizingRewriter, node: Node) -> bool:
    return bool(called_name(node, rewriter.item.module.functions))


def _device(node: Node) -> str:
    return node.assigned_device or node.device
