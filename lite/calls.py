"""Which subgraphs an operator calls, and that none calls itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .errors import ModelError

if TYPE_CHECKING:
    from .node import Node
    from .subgraph import Subgraph

_CALLERS = frozenset(
    (
        "IF",
        "WHILE",
        "CALL",
        "CALL_ONCE",
        "STABLEHLO_WHILE",
        "STABLEHLO_CASE",
        "STABLEHLO_COMPOSITE",
        "STABLEHLO_REDUCE",
        "STABLEHLO_REDUCE_WINDOW",
        "STABLEHLO_SORT",
    )
)
# The fields of their options tables that hold the number of a subgraph to run.
_ONE = (
    "then_subgraph_index",
    "else_subgraph_index",
    "cond_subgraph_index",
    "body_subgraph_index",
    "init_subgraph_index",
    "decomposition_subgraph_index",
    "comparator_subgraph_index",
    "subgraph",
)
_MANY = "branch_subgraph_indices"


def called_subgraphs(node: Node) -> list[int]:
    """The numbers of the subgraphs that the node's options name."""
    options = node.options
    if options is None or node.registration.name not in _CALLERS:
        return []
    found = [int(getattr(options, name)) for name in _ONE if hasattr(options, name)]
    return found + [int(index) for index in getattr(options, _MANY, ())]


def check_calls(subgraphs: Sequence[Subgraph]) -> None:
    """ModelError when a subgraph calls itself, be it through others."""
    calls = [
        [(node, index) for node in subgraph.nodes for index in called_subgraphs(node)]
        for subgraph in subgraphs
    ]
    finished: set[int] = set()
    for start in range(len(subgraphs)):
        trail = [(start, iter(calls[start]))]
        open_ones = {start}
        while trail:
            current, rest = trail[-1]
            node, index = next(rest, (None, -1))
            if node is None:
                finished.add(current)
                open_ones.discard(current)
                trail.pop()
            elif index in open_ones:
                raise ModelError(f"{subgraphs[current].where(node)}: subgraph {index} must not call itself")
            elif 0 <= index < len(calls) and index not in finished:
                open_ones.add(index)
                trail.append((index, iter(calls[index])))
