"""Stacks of TensorFlow 1 from which nothing is read."""

from __future__ import annotations

from ..ir.node import Block, Node
from .effects import Effect, Effects
from .purity import ENTERS

_STACKS = ("Stack", "StackV2")
_PUSHES = ("StackPush", "StackPushV2")
_POPS = ("StackPop", "StackPopV2")
# What a loop's turns or results hang on.
_TELLING = frozenset(("Exit", "RefExit", "LoopCond", "Assert"))


def drop_unread_stacks(block: Block, effects: Effects) -> None:
    """Loops leave out pushes on stacks, and pops of them, where no result hangs on a popped value.

    Gradients of loops keep such stacks: of values that in the end no gradient needed.

    Given:  p = StackPushV2(Enter(s), x); y = f(p); o = StackPopV2(Enter(s)); d = g(o); z = h(y) after d
    Result: y = f(x); z = h(y)
    """
    for node in list(block):
        if node.op in _STACKS:
            _drop(block, _in_vain(node, effects))


def _in_vain(stack: Node, effects: Effects) -> dict[Node, None]:
    """What loops do with the stack and make of popped values; none where a result hangs on those."""
    found: dict[Node, None] = {}
    for enter in stack.results[0].users:
        if enter.op not in ENTERS:
            return {}
        found[enter] = None
        for user in enter.results[0].users:
            found[user] = None
            if user.op in _POPS:
                if not _add_users(user, found, effects):
                    return {}
            elif user.op not in _PUSHES or len(user.operands) != 2 or user.operands[1] is enter.results[0]:
                return {}
    return found


def _add_users(pop: Node, found: dict[Node, None], effects: Effects) -> bool:
    """Adds all that is made of a popped value; False where a result may hang on it."""
    waiting = [pop]
    while waiting:
        for user in (user for y in waiting.pop().results for user in y.users):
            if user.op in _TELLING or user.block is not pop.block or effects.of(user) is Effect.WRITES:
                return False
            if user not in found:
                found[user] = None
                waiting.append(user)
    return True


def _drop(block: Block, gone: dict[Node, None]) -> None:
    """Remove the nodes; pushes become what they pushed, and who waited for a node waits for what it needs."""
    for node in gone:
        if node.op in _PUSHES:
            node.results[0].replace_all_uses_with(node.operands[1])
        needed = (x.owner for x in (*node.operands, *node.controls) if isinstance(x.owner, Node))
        tokens = [owner.control for owner in needed if owner not in gone]
        for user in dict.fromkeys(node.control.users):
            others = [token for token in user.controls if token is not node.control]
            user.controls = dict.fromkeys([*others, *tokens])
    for node in gone:
        node.drop_operands()
    for node in gone:
        block.remove(node)
