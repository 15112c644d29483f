"""dependency: control edges that order nothing, and nodes that only wait."""

from __future__ import annotations

from ..graph.rule import rule
from ..ir.node import TERMINATORS, Node, Value
from ..transforms.bodies import token_of
from ..transforms.effects import Effect, Effects
from ..transforms.purity import CONTROL_FLOW, is_reference
from .constant_controls import drop_needless_controls
from .rewriter import OptimizingRewriter
from .turn import Turn

_SOURCE = "TensorFlow core/grappler/optimizers/dependency_optimizer.cc"
_SWITCHES = ("Switch", "RefSwitch", "_SwitchN")
_MERGES = ("Merge", "RefMerge")
# Never turned into a NoOp: what they do is to be there, or nobody knows.
_LEFT = CONTROL_FLOW | {
    *("Assert", "CheckNumerics", "CheckNumericsV2", "_Arg", "_Retval", "ControlTrigger", "NoOp"),
    *("Placeholder", "PlaceholderV2", "PlaceholderWithDefault"),
}
_VARIABLES = ("VariableV2", "Variable", "VarHandleOp", "_VarHandlesOp", "ReadVariableOp", "_ReadVariablesOp")
# Of what has to do with state only these are as good as not done; a random number is the next one.
_READS = ("ReadVariableOp", "_ReadVariablesOp", "ResourceGather", "ResourceGatherNd", "VariableShape")
_RECEIVED = ("_Recv", "_HostRecv", "Recv")


def simplify(turn: Turn) -> None:
    """Take out what is only waited for, and control edges that others imply."""
    item = turn.item
    notes = {"effects": Effects(item.module.functions), "fetches": bool(item.fetches or item.function)}
    turn.rewrite(DEPENDENCY, shapes=False, notes=notes)
    reduce_controls(turn)
    group_controls(turn)


@rule(source=_SOURCE)
def become_no_op(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A node that others only wait for, and that has no effect, waits itself and does nothing.

    Given:  a = Neg(x) [^b]; y = Exp(z) [^a]
    Result: a = NoOp [^x, ^b]; y = Exp(z) [^a]
    """
    if not node.control.users or any(map(_is_switch, node.operands)) or not _only_waits(rewriter, node):
        return False
    tokens = dict.fromkeys((*map(token_of, node.operands), *node.controls))
    made = rewriter.add(node, "NoOp", node.name, (), {}, (), tokens)
    rewriter.replace_value(node.control, made.control)
    rewriter.erase(node)
    return True


@rule(source=_SOURCE)
def drop_unused(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A node that nothing uses or waits for, and that has no effect, goes.

    Given:  a = Neg(x); y = Exp(x)
    Result: y = Exp(x)
    """
    if node.control.users or not rewriter.notes["fetches"] or not _only_waits(rewriter, node):
        return False
    rewriter.erase(node)
    return True


def _only_waits(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Whether nothing uses the node's results, and running it has no effect."""
    if node.op in _LEFT or node.op in TERMINATORS or any(value.users for value in node.results):
        return False
    if rewriter.is_named(node) or node.op in rewriter.item.module.functions or node.regions:
        return False
    if rewriter.notes["effects"].of(node) != Effect.NONE and node.op not in _READS:
        return False
    return not any(is_reference(value.type) for value in (*node.operands, *node.results))


def _is_switch(value: Value) -> bool:
    return isinstance(value.owner, Node) and value.owner.op in _SWITCHES


@rule("NoOp", "Identity", source=_SOURCE)
def bypass(rewriter: OptimizingRewriter, node: Node) -> bool:
    """What is behind a NoOp or Identity waits for what was before it, if that makes no more edges.

    Given:  n = NoOp [^a]; y = Neg(x) [^n]
    Result: y = Neg(x) [^a]
    """
    if rewriter.is_named(node) or any(user.op in TERMINATORS for user in node.control.users):
        return False
    if node.op == "Identity" and not _may_skip(rewriter, node):
        return False
    before: list[Value] = [*node.operands, *node.controls]
    users = list(dict.fromkeys((*(u for v in node.results for u in v.users), *node.control.users)))
    if not users:
        return False
    if len(before) * len(users) > len(before) + len(users) or _crossings_grow(node, users):
        return False
    _skip(rewriter, node, users)
    return True


def _may_skip(rewriter: OptimizingRewriter, node: Node) -> bool:
    """Whether an Identity only passes a value on."""
    operand = node.operands[0]
    owner = operand.owner
    if is_reference(operand.type):
        return False
    users = node.results[0].users
    if any(user.op in TERMINATORS for user in users) and (node.controls or not isinstance(owner, Node)):
        return False
    if not isinstance(owner, Node):
        return True
    if owner.op in _VARIABLES or owner.op in _RECEIVED:
        return False
    if owner.op in _SWITCHES:
        return not node.control.users and not any(user.op in _MERGES for user in users)
    return not node.controls or not any(user.op in _MERGES for user in users)


def _crossings_grow(node: Node, users: list[Node]) -> bool:
    """Whether more edges would lead from one device to another."""
    sources = [value.owner for value in (*node.operands, *node.controls) if isinstance(value.owner, Node)]
    now = sum(_device(source) != _device(node) for source in sources)
    now += sum(_device(user) != _device(node) for user in users)
    then = sum(_device(source) != _device(user) for source in sources for user in users)
    return then > now


def _device(node: Node) -> str:
    return node.assigned_device or node.device


def _skip(rewriter: OptimizingRewriter, node: Node, users: list[Node]) -> None:
    tokens = [*map(token_of, node.operands), *node.controls]
    for user in users:
        controls: list[Value] = []
        for token in user.controls:
            controls += tokens if token is node.control else [token]
        takes = bool(node.results) and node.results[0] in user.operands
        if takes:
            controls += node.controls
        user.controls = dict.fromkeys(controls)
        if takes:
            operand = node.operands[0]
            rewriter.set_operands(
                user, [operand if value is node.results[0] else value for value in user.operands]
            )
        rewriter.changed(user)
    rewriter.erase(node)


@rule("NoOp", source=_SOURCE)
def drop_unused_no_op(rewriter: OptimizingRewriter, node: Node) -> bool:
    """A NoOp that nobody waits for, or that waits for nothing, goes.

    Given:  n = NoOp [^a]
    Result: nothing
    """
    if rewriter.is_named(node) or any(user.op in TERMINATORS for user in node.control.users):
        return False
    if node.control.users and node.controls:
        return False
    for user in list(dict.fromkeys(node.control.users)):
        user.controls = [token for token in user.controls if token is not node.control]
        rewriter.changed(user)
    rewriter.erase(node)
    return True


DEPENDENCY = (drop_needless_controls, become_no_op, drop_unused, bypass, drop_unused_no_op)


def reduce_controls(turn: Turn) -> None:
    """Drop control edges that a longer way makes needless.

    Given:  b = Neg(a); y = Exp(x) [^a, ^b]
    Result: b = Neg(a); y = Exp(x) [^b]

    A graph with loops of the first version stays as it is.
    """
    nodes = list(turn.item.nodes())
    if any(node.op in CONTROL_FLOW for node in nodes):
        return
    for node in nodes:
        owners = [token.owner for token in node.controls if isinstance(token.owner, Node)]
        if not owners or node.op in TERMINATORS or len(owners) + len(node.operands) < 2:
            continue
        needless = _reached(node, set(owners))
        if needless and not turn.is_late():
            node.controls = [token for token in node.controls if token.owner not in needless]
            turn.count("reduce_controls", node.label)


def group_controls(turn: Turn) -> None:
    """Let a node wait for one NoOp on another device, where it waits for several nodes there.

    Given:  y = Exp(x) [^a, ^b] on the GPU; a and b are on the CPU
    Result: n = NoOp [^a, ^b] on the CPU; y = Exp(x) [^n] on the GPU

    Not for constants, nor for a Switch, whose token nobody may take for both of its sides.
    """
    for node in list(turn.item.nodes()):
        groups: dict[str, list[Value]] = {}
        for token in node.controls if _device(node) else ():
            owner = token.owner
            if not isinstance(owner, Node) or owner.op == "Const" or owner.op in _SWITCHES:
                continue
            if _device(owner) not in ("", _device(node)):
                groups.setdefault(_device(owner), []).append(token)
        for device, tokens in groups.items():
            if len(tokens) > 1 and node.op not in TERMINATORS and not turn.is_late():
                _wait_for_group(node, device, tokens)
                turn.count("group_controls", node.label)


def _wait_for_group(node: Node, device: str, tokens: list[Value]) -> None:
    assert node.block is not None
    made = Node("NoOp", f"{node.name}/GroupCrossDeviceControlEdges", device=device)
    node.block.insert_before(node, made)
    made.controls = tokens
    node.controls = [*(token for token in node.controls if token not in tokens), made.control]


# So many nodes are looked at for one whose control edges may be needless.
_MOST_SEEN = 2000


def _reached(node: Node, owners: set[Node]) -> set[Node]:
    """Those of the owners of a node's tokens that another of its inputs waits for."""
    found: set[Node] = set()
    seen: set[Node] = set()
    waiting = [each for source in node.neighbours_before() for each in source.neighbours_before()]
    while waiting and len(seen) < _MOST_SEEN and len(found) < len(owners):
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        if each in owners:
            found.add(each)
        waiting += each.neighbours_before()
    return found
