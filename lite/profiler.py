"""Per-operator times of real invokes."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING

import numpy as np

from ..schema.named_tuple import NamedTuple
from .delegate import DelegateFlags
from .operator_profiler import OperatorProfiler

if TYPE_CHECKING:
    from collections.abc import Callable

    from .node import Node
    from .plan import NativeSegment, Plan
    from .stage import Stage
    from .subgraph import Subgraph


@dataclass(frozen=True)
class OpProfile:
    """What one node took, or an operator that a delegate's node ran inside.

    time_ns is the mean time of one invoke, min_ns the shortest, median_ns the one in the middle: what a
    busy machine changes least. calls counts the native calls
    that the node makes in an invoke, 0 for a node that runs in Python. output is the name of
    its first output.
    """

    op: str
    node: int
    time_ns: float
    calls: int
    min_ns: int
    output: str
    median_ns: float


def profile(subgraph: Subgraph, runs: int) -> list[OpProfile]:
    """Invoke the subgraph runs times (after one to warm up), node by node, and time the nodes."""
    if runs < 1:
        raise ValueError(f"profile: runs must be at least 1, got {runs}")
    clock = NodeClock(subgraph)
    subgraph.run_stages(clock.run_stage)
    clock.times.clear()
    for _ in range(runs):
        subgraph.run_stages(clock.run_stage)
    return [_record(subgraph, row, times) for row, times in clock.times.items()]


class _Row(NamedTuple):
    """What a time belongs to: a node, an operator inside a delegate's node, or one of its calls."""

    node: Node
    op: str
    calls: int
    segment: NativeSegment | None = None  # of a single call


def _record(subgraph: Subgraph, row: _Row, times: list[int]) -> OpProfile:
    names = [subgraph.tensors[t].name for t in row.node.outputs if t >= 0]
    return OpProfile(
        op=row.op,
        node=row.node.index,
        time_ns=sum(times) / len(times),
        calls=row.calls,
        min_ns=min(times),
        output=names[0] if names else "",
        median_ns=float(np.median(times)),
    )


def _tells_operators(node: Node) -> bool:
    delegate = node.delegate
    return delegate is not None and bool(delegate.flags & DelegateFlags.PER_OPERATOR_PROFILING)


class NodeClock:
    """Runs stages node by node, each through a native entry of its own, and keeps the times in ns.

    What it costs to look at the clock and to enter native code is taken off.
    """

    def __init__(self, subgraph: Subgraph) -> None:
        self.times: dict[_Row, list[int]] = {}
        self._subgraph = subgraph
        self._steps: dict[Plan, list[tuple[Node, NativeSegment | None]]] = {}
        self._cost_ns = min(_time(_nothing) for _ in range(100))

    def run_stage(self, stage: Stage) -> None:
        steps = self._steps.get(stage.plan)
        if steps is None:
            steps = self._steps[stage.plan] = stage.plan.single_steps(self._by_call)
        spent: dict[_Row, int] = {}
        for node, segment in steps:
            self._run(node, segment, spent)
        for row, time_ns in spent.items():
            self.times.setdefault(row, []).append(time_ns)

    def _by_call(self, node: Node) -> bool:
        return _tells_operators(node) and not self._subgraph.runtime.settings.force_delegate_node_profiling

    def _run(self, node: Node, segment: NativeSegment | None, spent: dict[_Row, int]) -> None:
        """Run one step, and add its time to the rows that it belongs to."""
        subgraph = self._subgraph
        profiler = OperatorProfiler() if segment is None and _tells_operators(node) else None
        time_ns = max(self.run_node(node, segment, profiler) - self._cost_ns, 0)
        inner = {} if profiler is None else profiler.times
        if not inner or subgraph.runtime.settings.force_delegate_node_profiling:
            _add(spent, self._row(node, segment), time_ns)
        for (op, index), inner_ns in inner.items():
            known = 0 <= index < len(subgraph.nodes)
            _add(spent, _Row(subgraph.nodes[index] if known else node, op, 0), inner_ns)

    def _row(self, node: Node, segment: NativeSegment | None) -> _Row:
        if segment is not None and segment.calls and self._by_call(node):
            return _Row(node, segment.calls[0].kernel, 1, segment)
        return _Row(node, node.registration.name, len(node.calls or ()))

    def run_node(
        self, node: Node, segment: NativeSegment | None, profiler: OperatorProfiler | None = None
    ) -> int:
        """Run one node, whose operators may tell a profiler their times; returns how long it took, in ns."""
        if profiler is not None:
            return _time(lambda: self._subgraph.run_profiled(node, profiler))
        if segment is None:
            return _time(lambda: self._subgraph.run_in_python(node))
        invoke = segment.plan.invoke
        begin = perf_counter_ns()
        status = invoke()
        if status:
            self._subgraph.resume(segment, status)
        return perf_counter_ns() - begin


def _add(spent: dict[_Row, int], row: _Row, time_ns: int) -> None:
    spent[row] = spent.get(row, 0) + time_ns


def _time(function: Callable[[], object]) -> int:
    begin = perf_counter_ns()
    function()
    return perf_counter_ns() - begin


def _nothing() -> None:
    """The least that can be timed."""
