"""LastingPlan: how a subgraph was prepared for some shapes, ready to run while it is prepared for others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import preparation
from .preparation import is_whole, may_be_kept

if TYPE_CHECKING:
    from .native_plan import NativePlan
    from .prepared_graph import PreparedGraph


class LastingPlan:
    """A native plan with all that it reads and writes, which the subgraph's later shapes leave alone."""

    def __init__(self, graph: PreparedGraph, plan: NativePlan) -> None:
        stage = graph.stages[0]
        self.plan = plan
        self._graph = graph
        self._memory = stage.memory
        self._arena = stage.memory.arena
        self.identity = id(stage)
        # Blocks, packed weights and known values: the graph lets go of them when it gets other shapes.
        self._kept: tuple[object, ...] = (stage.plan, [tensor.data for tensor in graph.tensors])

    @property
    def nbytes(self) -> int:
        """Of the arena."""
        return self._memory.arena_bytes

    @property
    def is_current(self) -> bool:
        """Whether it may run now: its arena was not given back, and nobody watches the nodes."""
        return self._arena is not None and self._memory.arena is self._arena and not self._graph.is_watched

    def shares_memory(self, other: object) -> bool:
        """Whether both have one arena: they were made for the same shapes."""
        return isinstance(other, LastingPlan) and self._arena is other._arena

    def drop(self) -> None:
        """Let go of the memory: it may not run any more."""
        self._arena, self._kept = None, ()


def lasting_plan(graph: PreparedGraph) -> LastingPlan | None:
    """The plan of an allocated graph as it is; None where it needs Python, has effects, or is large."""
    plan = graph.native_plan
    if plan is None or not graph.owned or not is_whole(graph) or not may_be_kept(graph, graph.schedule):
        return None
    if graph.stages[0].memory.arena_bytes > preparation.SMALL_ARENA or any(
        t.is_variable for t in graph.tensors
    ):
        return None
    return LastingPlan(graph, plan)
