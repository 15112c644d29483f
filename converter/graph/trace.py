"""Trace: which rules changed a graph, how often, and where."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

# Nodes that a trace names for a rule; what comes after is counted.
MOST_NODES = 16
# Changes among which rules that undo each other are found.
_LATEST = 16


@dataclass
class Fired:
    """One rule: how often it changed something, and the first roots where it did."""

    count: int = 0
    nodes: list[str] = field(default_factory=list)


@dataclass
class Trace:
    """What rewriting did: rules by name in the order in which they first changed something.

    count is how many changes there were, visits how often a node was looked at. is_complete is False when
    the deadline came before the end.
    """

    fired: dict[str, Fired] = field(default_factory=dict)
    visits: int = 0
    is_complete: bool = True
    count: int = 0
    _latest: deque[str] = field(default_factory=lambda: deque(maxlen=_LATEST))

    def latest(self) -> list[str]:
        """The names of the rules that made the latest changes, each once."""
        return sorted(set(self._latest))

    def add(self, rule: str, node: str) -> None:
        """One change by a rule, at the root that was known by this name."""
        fired = self.fired.setdefault(rule, Fired())
        fired.count += 1
        self.count += 1
        self._latest.append(rule)
        if len(fired.nodes) < MOST_NODES:
            fired.nodes.append(node)

    def lines(self, with_nodes: bool = False) -> list[str]:
        """`merge_transposes 2: a, b` for each rule; the nodes only where they are wanted."""
        found = []
        for name, fired in self.fired.items():
            more = fired.count - len(fired.nodes)
            nodes = ", ".join(fired.nodes) + (f" and {more} more" if more else "")
            found.append(f"{name} {fired.count}" + (f": {nodes}" if with_nodes else ""))
        return found
