"""Rules: what a rewrite looks for, its name, and what it needs; and the trace of those that fired."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from .rewriter import Rewriter

R = TypeVar("R", bound="Rewriter[Any]")
# Nodes that a trace names for a rule; what comes after is counted.
MOST_NODES = 16
# Changes among which rules that undo each other are found.
_LATEST = 16


@dataclass(frozen=True)
class Rule(Generic[R]):
    """A change of the graph around one node, its root, that keeps what the graph computes.

    name is what reports, settings and errors call it. roots are the ops that it is asked about, empty for
    every op. rewrite takes the rewriter and a root, and says whether it changed anything: its docstring
    shows Given and Result. needs names what must be known ("shapes", "devices" ...), for whoever chooses
    rules. keeps_bits is False for one whose results may differ in the last digits. source is where the
    behaviour is specified.
    """

    name: str
    rewrite: Callable[[R, Any], bool]
    roots: frozenset[Hashable] = frozenset()
    needs: frozenset[str] = frozenset()
    keeps_bits: bool = True
    source: str = ""

    @property
    def given_and_result(self) -> str:
        """What the rewrite's docstring shows."""
        return self.rewrite.__doc__ or ""


def rule(
    *roots: Hashable, needs: Iterable[str] = (), keeps_bits: bool = True, source: str = ""
) -> Callable[[Callable[[R, Any], bool]], Rule[R]]:
    """Makes a rule, of the function's name, of a function of (rewriter, node). See Rule.

    @rule("Neg")
    def skip_double_negation(rewriter, node):
        '''Take out what is done and undone.

        Given:  y = Neg(Neg(x))
        Result: x wherever y was used
        '''
    """

    def made(rewrite: Callable[[R, Any], bool]) -> Rule[R]:
        return Rule(rewrite.__name__, rewrite, frozenset(roots), frozenset(needs), keeps_bits, source)

    return made


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
