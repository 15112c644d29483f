"""Callees: the subgraphs that the nodes of one subgraph run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .node import Node
    from .prepared_graph import PreparedGraph
    from .runtime import Runtime
    from .subgraph import Subgraph


class Callees:
    """Each node's subgraphs by number; the same ones each time they are asked for."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._called: dict[tuple[int, int], Subgraph] = {}

    def of(self, node: Node, index: int) -> Subgraph:
        key = node.index, index
        if key not in self._called:
            self._called[key] = self._runtime.claim(index)
        return self._called[key]

    def __iter__(self) -> Iterator[Subgraph]:
        return iter(self._called.values())

    def include(self, other: PreparedGraph) -> bool:
        """Whether one of the subgraphs, or one that they run, is the other."""
        waiting, seen = list(self._called.values()), set[int]()
        while waiting:
            called = waiting.pop()
            if called is other:
                return True
            if id(called) not in seen:
                seen.add(id(called))
                waiting.extend(called.callees)
        return False

    def release_memory(self) -> None:
        for called in self._called.values():
            if called.owned:
                called.release_nonpersistent_memory()

    def restore_memory(self) -> None:
        """Give memory back to those that were ready to run."""
        for called in self._called.values():
            if called.owned and called.is_invokable:
                called.allocate_tensors()
