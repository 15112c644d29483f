"""OperatorProfiler: where a delegate's node tells how long each operator took that it ran inside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .context import Context


class OperatorProfiler:
    """Times of operators inside one node, in ns, by name and number, summed over one run of the node."""

    def __init__(self) -> None:
        self.times: dict[tuple[str, int], int] = {}

    def add(self, op: str, node: int, time_ns: int) -> None:
        """node is the number of the model's node that the operator stands for."""
        self.times[op, node] = self.times.get((op, node), 0) + time_ns


@contextmanager
def profile_operator(context: Context, op: str, node: int) -> Iterator[None]:
    """Times what runs inside, for the profile of a delegate that wants its operators in it.

    For the invoke of a delegate with DelegateFlags.PER_OPERATOR_PROFILING; nothing is timed when
    nobody profiles.
    """
    profiler = context.operator_profiler
    if profiler is None:
        yield
        return
    begin = perf_counter_ns()
    yield
    profiler.add(op, node, perf_counter_ns() - begin)
