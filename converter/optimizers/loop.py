"""loop: branches that never run, and stacks that nobody reads."""

from __future__ import annotations

from ..graph.rule import rule
from ..ir.attributes import Attributes
from ..ir.node import Node, Value
from ..transforms.bodies import token_of
from ..transforms.folding.tensors import known_array
from ..transforms.node_rewriter import data_type
from .conditions import constant_if, idle_while, remove_idle_loop
from .invariants import move_invariant
from .needed import drop
from .rewriter import OptimizingRewriter
from .turn import Turn

_SOURCE = "TensorFlow core/grappler/optimizers/loop_optimizer.cc"
_MERGES = ("Merge", "RefMerge")
# What stands behind a dead branch and is more than a node of it.
_ENDS = frozenset(
    (
        *("Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "LoopCond"),
        *("ControlTrigger", "return", "_Retval"),
    )
)
_PASS_HANDLES = ("Enter", "RefEnter", "Identity")
_STACKS = ("StackV2", "Stack")


def simplify_loops(turn: Turn) -> None:
    """Take out what never runs, pushes that nobody pops, and what is the same in all rounds."""
    turn.rewrite(LOOP, shapes=False)


@rule("Switch", source=_SOURCE)
def remove_dead_branches(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A Switch by a constant, and what is behind its dead side.

    Given:  f, t = Switch(x, true); a = Neg(f); b = Exp(t); m = Merge(a, b)
    Result: t = Identity(x); b = Exp(t); m = Identity(b)

    Not with a preserved node, a loop's end or a ControlTrigger behind the dead side, nor where the index of a
    Merge is used.
    """
    chosen = known_array(node.operands[1])
    if chosen is None or chosen.shape != () or rewriter.is_named(node):
        return False
    alive, dead = node.results[int(bool(chosen))], node.results[1 - int(bool(chosen))]
    if dead is alive or (not dead.users and not alive.users):
        return False
    gone, merges = _behind(rewriter, dead)
    if gone is None or node.control.users:
        return False
    values = {value for each in gone for value in each.results} | {dead}
    for merge in merges:
        _leave(rewriter, merge, [value for value in merge.operands if value not in values])
    drop(gone)
    controls = dict.fromkeys((*node.controls, token_of(node.operands[1])))
    attributes: Attributes = {"T": data_type(node.operands[0].type)}
    made = rewriter.add(node, "Identity", node.name, node.operands[:1], attributes, [alive.type], controls)
    rewriter.replace_value(alive, made.results[0])
    rewriter.erase(node)
    return True


def _behind(rewriter: OptimizingRewriter, dead: Value) -> tuple[list[Node] | None, list[Node]]:
    """The nodes that never run when a value is dead, and the Merges that have lost an input; None for the
    nodes when something among them must stay.
    """
    gone: dict[Node, None] = {}
    values = {dead}
    waiting = list(dict.fromkeys(dead.users))
    merges: dict[Node, None] = {}
    while waiting:
        user = waiting.pop()
        if user in gone:
            continue
        if user.op in _MERGES and not all(value in values for value in user.operands):
            merges[user] = None
            if user.results[1].users or rewriter.is_named(user) or _has_dead_token(user, gone):
                return None, []
            continue
        if user.op in _ENDS or rewriter.is_named(user) or user.regions:
            return None, []
        gone[user] = None
        merges.pop(user, None)
        values.update(user.results)
        waiting += user.neighbours_behind()
    return list(gone), [merge for merge in merges if merge not in gone]


def _has_dead_token(merge: Node, gone: dict[Node, None]) -> bool:
    return any(token.owner in gone for token in merge.controls)


def _leave(rewriter: OptimizingRewriter, merge: Node, living: list[Value]) -> None:
    """The Merge has these inputs alone."""
    if len(living) > 1:
        merge.attributes["N"] = len(living)
        rewriter.set_operands(merge, living)
        return
    attributes: Attributes = {"T": data_type(living[0].type)}
    made = rewriter.add(
        merge, "Identity", merge.name, living, attributes, [merge.results[0].type], merge.controls
    )
    rewriter.replace(merge, made)


@rule("StackPushV2", "StackPush", source=_SOURCE)
def remove_unread_pushes(rewriter: OptimizingRewriter, node: Node) -> bool:
    """What is pushed on a stack that nobody pops is only passed on.

    Given:  s = StackV2; y = StackPushV2(s, x)
    Result: s = StackV2; y = Identity(x) [^s]
    """
    if rewriter.is_kept(node) or len(node.operands) != 2:
        return False
    handle = node.operands[0]
    while isinstance(handle.owner, Node) and handle.owner.op in _PASS_HANDLES:
        handle = handle.owner.operands[0]
    stack = handle.owner
    if not isinstance(stack, Node) or stack.op not in _STACKS or rewriter.is_named(stack) or _is_read(stack):
        return False
    attributes: Attributes = {"T": data_type(node.operands[1].type)}
    made = rewriter.node(node, "Identity", node.operands[1:], attributes)
    made.controls = dict.fromkeys((token_of(node.operands[0]), *node.controls))
    rewriter.replace(node, made)
    return True


def _is_read(stack: Node) -> bool:
    """Whether anything but pushes and the end has the stack's handle."""
    waiting = list(stack.results[0].users)
    seen: set[Node] = set()
    while waiting:
        user = waiting.pop()
        if user in seen:
            continue
        seen.add(user)
        if user.op in _PASS_HANDLES:
            waiting += user.results[0].users
        elif user.op not in ("StackPushV2", "StackPush", "StackCloseV2", "StackClose"):
            return True
    return False


LOOP = (
    remove_idle_loop,
    remove_dead_branches,
    constant_if,
    idle_while,
    remove_unread_pushes,
    move_invariant,
)
