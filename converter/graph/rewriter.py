"""Rewriter: the one driver of rules, and what a rule changes a graph with."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from itertools import islice
from typing import Any, Generic

from ...lite.errors import StateError
from .rule import Rule, Trace
from .structure import AnyBlock, AnyNode, AnyValue, NodeT

# Changes per node of the graph, beyond which rules are said to undo each other.
MOST_CHANGES = 64
# So many nodes behind a changed one are looked at again at once; what is farther, in the next round.
_STEPS_BEHIND = 3
# Users of one value that are looked at again when it changes; the others in the next round.
_MOST_NEIGHBOURS = 64
# The clock is read once in so many visits.
_VISITS_BETWEEN_LOOKS = 256


class Rewriter(Generic[NodeT]):
    """Changes one block by rules until none changes anything.

    Rules stand in groups. In a group's turn one node after the other is tried, and the first rule that
    changes something wins; groups take turns. Only changed nodes and their neighbours are looked at again,
    and all of them when nothing is left, so that a pattern of any depth is found. A rule changes the graph by
    the methods below, and calls `changed` for any other node than its root that it changed in place.

    kept are nodes that must stay what they are, those that are fed or fetched by name. order gives the
    nodes to begin with, by default all in the block's order. The clock (time.monotonic) must not pass
    the deadline. changed_node is called with every node that is new or changed, for whoever infers
    something of nodes. notes are what rules remember during the run, turn_notes during a group's turn,
    by keys of their own.
    """

    def __init__(
        self,
        block: AnyBlock[NodeT, Any],
        groups: Iterable[Sequence[Rule[Any]]] = (),
        *,
        kept: Collection[NodeT] = (),
        order: Callable[[], Iterable[NodeT]] | None = None,
        deadline: float | None = None,
        most_changes: int = MOST_CHANGES,
        changed_node: Callable[[NodeT], None] | None = None,
    ) -> None:
        self.block = block
        self.kept = frozenset(kept)
        self.trace = Trace()
        self.notes: dict[Hashable, Any] = {}
        self.turn_notes: dict[Hashable, Any] = {}
        self._groups = [_Group(rules) for rules in groups]
        self._groups_of_op: dict[Hashable, list[_Group]] = {}
        self._order = order or block.walk
        self._deadline = deadline
        self._most_changes = most_changes
        self._changed_node = changed_node

    def run(self) -> Trace:
        """Rewrite. StateError names the rules that find no end."""
        count = -1
        most = 0
        while self.trace.count > count:
            count = self.trace.count
            nodes = list(self._order())
            most = most or self._most_changes * (len(nodes) + 16)
            for node in nodes:
                self._look_at(node)
            while any(group.waiting for group in self._groups):
                for group in self._groups:
                    self.turn_notes = {}
                    if not self._turn(group, most):
                        return self.trace
        return self.trace

    def _turn(self, group: _Group, most_changes: int) -> bool:
        """Try the group's rules until its queue is empty; False when there is no time left."""
        trace, waiting, queued, is_open = self.trace, group.waiting, group.queued, self.is_open
        while waiting:
            node = waiting.popleft()
            queued.remove(node)
            if node.block is None or not is_open(node):
                continue
            if trace.visits % _VISITS_BETWEEN_LOOKS == 0 and self._is_late():
                trace.is_complete = False
                return False
            trace.visits += 1
            for rule in group.rules_of(node.op):
                if rule.rewrite(self, node):
                    self._note(rule, node, most_changes)
                    break
        return True

    def _note(self, rule: Rule[Any], node: NodeT, most_changes: int) -> None:
        """A rule has changed something."""
        trace = self.trace
        trace.add(rule.name, node.label)
        self.changed(node)
        if trace.count > most_changes:
            raise StateError(
                f"rewriting: rules must come to an end, got {trace.count} changes of {len(self.block)} "
                f"nodes, the latest by {' and '.join(trace.latest())} at {node.label!r}"
            )

    def is_open(self, node: NodeT) -> bool:
        """Whether rules are asked about a node of the block, or of regions in it."""
        return True

    def _is_late(self) -> bool:
        return self._deadline is not None and time.monotonic() > self._deadline

    def insert_before(self, place: NodeT, node: NodeT) -> NodeT:
        """Put a new node right before another one."""
        assert place.block is not None
        place.block.insert_before(place, node)
        self.changed(node)
        return node

    def insert_after(self, place: NodeT, node: NodeT) -> NodeT:
        """Put a new node right behind another one."""
        assert place.block is not None
        place.block.insert_after(place, node)
        self.changed(node)
        return node

    def set_operands(self, node: NodeT, operands: Iterable[Any]) -> None:
        """The node is applied to other values from now on."""
        before = list(node.neighbours_before())
        node.operands = tuple(operands)
        self.changed(node)
        self._look_at_left(before)

    def set_operand(self, node: NodeT, place: int, value: Any) -> None:
        """One operand of the node is another value from now on."""
        operands = node.operands
        self.set_operands(node, (*operands[:place], value, *operands[place + 1 :]))

    def replace(self, node: NodeT, made: NodeT) -> None:
        """Another node of as many results does the work of the node, which goes."""
        behind = list(node.neighbours_behind())
        node.replace_with(made)
        for user in behind:
            self._look_at(user)
        self.changed(made)
        self.erase(node)

    def replace_value(self, old: AnyValue[NodeT], new: AnyValue[NodeT]) -> None:
        """What used a value uses another one; the node that gave it stays."""
        users = list(dict.fromkeys(old.users))
        old.replace_all_uses_with(new)
        for user in users:
            self.changed(user)
        if isinstance(old.owner, AnyNode):
            self._look_at(old.owner)

    def erase(self, node: NodeT) -> None:
        """Take a node out that nothing uses; ValueError for one that is used or kept."""
        if node in self.kept:
            raise ValueError(f"node {node.label!r}: is kept by name and cannot be erased")
        before = list(node.neighbours_before())
        node.erase()
        self._look_at_left(before)

    def changed(self, node: NodeT) -> None:
        """The node was changed in place: it and its neighbours are looked at again."""
        if self._changed_node is not None and node.block is not None:
            self._changed_node(node)
        self._look_at(node)
        for before in islice(node.neighbours_before(), _MOST_NEIGHBOURS):
            self._look_at(before)
        self._look_behind(node)

    def _look_at_left(self, nodes: Iterable[AnyNode[Any, Any]]) -> None:
        """Look at nodes that have lost a user, and at the only one left: the two may be joined now."""
        for node in nodes:
            self._look_at(node)
            if any(len(value.users) == 1 for value in node.results):
                self._look_behind(node)

    def _look_behind(self, node: AnyNode[Any, Any]) -> None:
        reached = [node]
        for _ in range(_STEPS_BEHIND):
            reached = [
                user for each in reached for user in islice(each.neighbours_behind(), _MOST_NEIGHBOURS)
            ][:_MOST_NEIGHBOURS]
            for user in reached:
                self._look_at(user)

    def _look_at(self, node: AnyNode[Any, Any]) -> None:
        """Put the node into the queues of the groups with rules for its op."""
        if node.block is None:
            return
        groups = self._groups_of_op.get(node.op)
        if groups is None:
            groups = [group for group in self._groups if group.rules_of(node.op)]
            self._groups_of_op[node.op] = groups
        for group in groups:
            if node not in group.queued:
                group.queued.add(node)
                group.waiting.append(node)


class _Group:
    """Rules that are tried together, and the nodes that wait for them, each once."""

    def __init__(self, rules: Sequence[Rule[Any]]) -> None:
        self._rules = rules
        self._rules_of_op: dict[Hashable, list[Rule[Any]]] = {}
        self.waiting: deque[Any] = deque()
        self.queued: set[Any] = set()

    def rules_of(self, op: Hashable) -> list[Rule[Any]]:
        found = self._rules_of_op.get(op)
        if found is None:
            found = [rule for rule in self._rules if not rule.roots or op in rule.roots]
            self._rules_of_op[op] = found
        return found
