"""Per-operator times of real invokes."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .node import Node
    from .plan import NativeSegment, Plan
    from .subgraph import Stage, Subgraph


@dataclass(frozen=True)
class OpProfile:
    """What one node took.

    time_ns is the mean time of one invoke, min_ns the shortest. calls counts the native calls
    that the node makes in an invoke, 0 for a node that runs in Python. output is the name of
    its first output.
    """

    op: str
    node: int
    time_ns: float
    calls: int
    min_ns: int
    output: str


def profile(subgraph: Subgraph, runs: int) -> list[OpProfile]:
    """Invoke the subgraph runs times (after one to warm up), node by node, and time the nodes."""
    if runs < 1:
        raise ValueError(f"profile: runs must be at least 1, got {runs}")
    clock = NodeClock(subgraph)
    subgraph.run_stages(clock.run_stage)
    clock.times.clear()
    for _ in range(runs):
        subgraph.run_stages(clock.run_stage)
    return [_record(subgraph, node, times) for node, times in clock.times.items()]


def _record(subgraph: Subgraph, node: Node, times: list[int]) -> OpProfile:
    names = [subgraph.tensors[t].name for t in node.outputs if t >= 0]
    return OpProfile(
        op=node.registration.name,
        node=node.index,
        time_ns=sum(times) / len(times),
        calls=len(node.calls or ()),
        min_ns=min(times),
        output=names[0] if names else "",
    )


class NodeClock:
    """Runs stages node by node, each through a native entry of its own, and keeps the times in ns.

    What it costs to look at the clock and to enter native code is taken off.
    """

    def __init__(self, subgraph: Subgraph) -> None:
        self.times: dict[Node, list[int]] = {}
        self._subgraph = subgraph
        self._steps: dict[Plan, list[tuple[Node, NativeSegment | None]]] = {}
        self._cost_ns = min(_time(_nothing) for _ in range(100))

    def run_stage(self, stage: Stage) -> None:
        steps = self._steps.get(stage.plan)
        if steps is None:
            steps = self._steps[stage.plan] = stage.plan.single_steps()
        for node, segment in steps:
            self.times.setdefault(node, []).append(max(self.run_node(node, segment) - self._cost_ns, 0))

    def run_node(self, node: Node, segment: NativeSegment | None) -> int:
        """Run one node; returns how long it took, in ns."""
        if segment is None:
            return _time(lambda: self._subgraph.run_in_python(node))
        invoke = segment.plan.invoke
        begin = perf_counter_ns()
        status = invoke()
        end = perf_counter_ns()
        if status:
            self._subgraph.fail(segment, status)
        return end - begin


def _time(function: Callable[[], object]) -> int:
    begin = perf_counter_ns()
    function()
    return perf_counter_ns() - begin


def _nothing() -> None:
    """The least that can be timed."""
