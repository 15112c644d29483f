"""The time of each operator, and of each kind of operator, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .console import make_table
from .timing import in_words

if TYPE_CHECKING:
    from rich.table import Table

    from ..lite.profiler import OpProfile

_TIMING_NS = 15_000  # what the profiler itself takes for an operator


def node_table(profile: Sequence[OpProfile]) -> Table:
    """One row a node, in order of execution."""
    table = _table("node", "operator", "time", "share", "output")
    total = _total(profile)
    for entry in profile:
        share = f"{entry.median_ns / total:.1%}"
        table.add_row(str(entry.node), entry.op, in_words(entry.median_ns), share, entry.output)
    return table


def kind_table(profile: Sequence[OpProfile]) -> Table:
    """One row a kind of operator, the most expensive first."""
    times: dict[str, list[float]] = {}
    for entry in profile:
        times.setdefault(entry.op, []).append(entry.median_ns)
    table = _table("count", "operator", "time", "share")
    total = _total(profile)
    for op, spent in sorted(times.items(), key=lambda item: -sum(item[1])):
        table.add_row(str(len(spent)), op, in_words(sum(spent)), f"{sum(spent) / total:.1%}")
    return table


def profile_runs(latency_ns: float, operators: int) -> int:
    """How many invokes make a good profile in about a third of a second: timing takes its time for each."""
    return max(5, min(500, round(3e8 / (latency_ns + _TIMING_NS * operators + 1))))


def _total(profile: Sequence[OpProfile]) -> float:
    return max(sum(entry.median_ns for entry in profile), 1)


def _table(*names: str) -> Table:
    table = make_table(*names)
    for column in table.columns:
        column.justify = "left" if column.header in ("operator", "output") else "right"
    return table
