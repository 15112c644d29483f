"""Rules: what a rewrite looks for, by which name it is known, and what it needs."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from .rewriter import Rewriter

R = TypeVar("R", bound="Rewriter[Any]")


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
