"""Stacks of TensorFlow 1 from which nothing is read that anyone wants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple, TypeAlias

from ..ir.node import Block, Node, Value
from .effects import Effect, Effects
from .frames import FrameKey, frame_keys
from .purity import ENTERS

_STACKS = ("Stack", "StackV2")
_PUSHES = ("StackPush", "StackPushV2")
_POPS = ("StackPop", "StackPopV2")
_CONDITIONS = ("LoopCond", "RefLoopCond")
_NEXT = ("NextIteration", "RefNextIteration")

Frames: TypeAlias = Mapping[Node, FrameKey]


def drop_unread_stacks(block: Block, effects: Effects, wanted: Collection[str] | None) -> None:
    """Loops leave out pushes on stacks, and pops of them, where nothing wanted hangs on a popped value.

    Gradients of loops keep such stacks: of values that in the end no gradient needed. Loops go, too, that
    turn as often as a popped value says. wanted names nodes; where it is None, all that leaves the outermost
    loops is wanted. What changes state, or ends a function, is always.

    Given:  p = StackPushV2(Enter(s), x); y = f(p); o = StackPopV2(Enter(s)); d = g(o); z = h(y) after d
    Result: y = f(x); z = h(y)
    """
    stacks = [node for node in block if node.op in _STACKS]
    if not stacks:
        return
    keys = frame_keys(block)
    uses = {stack: found for stack in stacks if (found := _uses_of(stack)) is not None}
    of_stack = {node: stack for stack, found in uses.items() for node in (stack, *found)}
    search = _Search(effects, wanted, keys, of_stack)
    hanging = {stack: search.hanging_on(stack, nodes) for stack, nodes in uses.items()}
    unread = _unread({stack: each for stack, each in hanging.items() if each is not None})
    _drop(block, dict.fromkeys(node for each in unread.values() for node in each.nodes), keys)


def _uses_of(stack: Node) -> dict[Node, None] | None:
    """How loops hold the stack, what pushes on it and pops from it; None where it is used otherwise."""
    found: dict[Node, None] = {}
    waiting = [stack]
    while waiting:
        held = waiting.pop().results[0]
        for user in held.users:
            if user.op in ENTERS and user not in found:
                waiting.append(user)
            elif user.op not in (*ENTERS, *_POPS) and not _pushes_on(user, held):
                return None
            found[user] = None
    return found


def _pushes_on(node: Node, held: Value) -> bool:
    return node.op in _PUSHES and len(node.operands) == 2 and node.operands[1] is not held


class _Hanging(NamedTuple):
    """What goes with a stack, and the other stacks on which that pushes, or from which it pops."""

    nodes: dict[Node, None]
    stacks: set[Node]


class _Search:
    """Looks for what hangs on popped values. of_stack says for which stack nodes are there."""

    def __init__(
        self, effects: Effects, wanted: Collection[str] | None, keys: Frames, of_stack: Mapping[Node, Node]
    ) -> None:
        self._effects, self._wanted, self._keys, self._of_stack = effects, wanted, keys, of_stack

    def hanging_on(self, stack: Node, uses: Iterable[Node]) -> _Hanging | None:
        """The uses and all that is made of popped values; None where something wanted is."""
        seen: dict[Node, None] = {}
        waiting = [node for node in uses if node.op in _POPS]
        while waiting:
            for node in self._behind(waiting.pop()):
                if node in seen:
                    continue
                if node.block is not stack.block or self._is_wanted(node):
                    return None
                seen[node] = None
                waiting.append(node)
        others = {self._of_stack[node] for node in seen if node in self._of_stack}
        return _Hanging(dict.fromkeys([*uses, *seen]), others - {stack})

    def _behind(self, node: Node) -> Iterator[Node]:
        """What is made of the node's results; all of a loop that turns by them."""
        yield from (user for value in node.results for user in value.users)
        if node.op in _CONDITIONS:
            yield from self._within.get(self._keys.get(node, ()), ())

    @cached_property
    def _within(self) -> dict[FrameKey, list[Node]]:
        """The nodes of each loop, those of loops in it, too."""
        found: dict[FrameKey, list[Node]] = {}
        for node, key in self._keys.items():
            for depth in range(1, len(key) + 1):
                found.setdefault(key[:depth], []).append(node)
        return found

    def _is_wanted(self, node: Node) -> bool:
        if node in self._of_stack:
            return False
        if node.op == "Assert" or not node.has_control or self._effects.of(node) is Effect.WRITES:
            return True
        return not self._keys.get(node) if self._wanted is None else node.name in self._wanted


def _unread(hanging: dict[Node, _Hanging]) -> dict[Node, _Hanging]:
    """Those that go with no other stack than such."""
    kept = {stack: found for stack, found in hanging.items() if found.stacks <= hanging.keys()}
    return kept if len(kept) == len(hanging) else _unread(kept)


def _drop(block: Block, gone: Mapping[Node, None], keys: Frames) -> None:
    """Remove the nodes; pushes become what they pushed, and who waited for a node waits for what it needs."""
    for node in gone:
        if node.op in _PUSHES:
            node.results[0].replace_all_uses_with(node.operands[1])
    for user in dict.fromkeys(user for node in gone for user in node.control.users if user not in gone):
        others = [token for token in user.controls if token.owner not in gone]
        user.controls = dict.fromkeys([*others, *_needed(user, gone, keys)])
    for node in gone:
        node.drop_operands()
    for node in gone:
        block.remove(node)


def _needed(user: Node, gone: Mapping[Node, None], keys: Frames) -> Iterator[Value]:
    """Tokens of what stays, in the user's turn of its loop, of what the gone nodes need that it waits for."""
    key = keys.get(user, ())
    seen: set[Node] = set()
    waiting = [node for token in user.controls if isinstance(node := token.owner, Node) and node in gone]
    while waiting:
        for node in waiting.pop().neighbours_before():
            is_inside = keys.get(node, ())[: len(key)] == key and node.op not in _NEXT
            if node in seen or not is_inside:
                continue
            seen.add(node)
            if node in gone or keys.get(node, ()) != key:
                waiting.append(node)
            else:
                yield node.control
