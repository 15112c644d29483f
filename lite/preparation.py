"""Preparations: what preparing a graph has found, for the shapes that its inputs had before."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from .tensor import AllocationType

if TYPE_CHECKING:
    from .prepared_graph import PreparedGraph
    from .tensor import Shape

    Key: TypeAlias = tuple[tuple[Shape, int], ...]

_MOST = 64
_MOST_BYTES = 64 << 20  # of packed weights, tables and arenas, besides those of one preparation
_SMALL_ARENA = 1 << 20

# Tensors of other kinds have values or memory that a preparation does not know.
_KINDS = (
    AllocationType.NONE,
    AllocationType.MMAP_RO,
    AllocationType.ARENA_RW,
    AllocationType.PERSISTENT_RO,
)


class Preparation:
    """The stages of an allocated graph, and how tensors and nodes are for them. A small arena stays."""

    def __init__(self, graph: PreparedGraph) -> None:
        self._stages = list(graph.stages)
        self._schedule = graph.schedule
        self._arena_bytes = sum(stage.memory.arena_bytes for stage in graph.stages)
        calls = (call for node in graph.schedule for call in node.calls or ())
        self.held = {id(array): array.nbytes for call in calls for array in call.keep}  # by identity: bytes
        self.put_away()
        if self._stages[0].memory.held:
            self.held[id(self)] = self._arena_bytes
        self._nodes = [(node, node.calls, tuple(node.temporaries), node.user_data) for node in graph.schedule]
        self._tensors = [
            (t, t.shape, t.type, t.allocation_type, t.data, t.address)
            for t in graph.tensors
            if t.allocation_type is not AllocationType.MMAP_RO
        ]

    def put_away(self) -> None:
        if self._arena_bytes > _SMALL_ARENA:
            for stage in self._stages:
                stage.memory.release()

    def restore(self, graph: PreparedGraph) -> None:
        for tensor, shape, type, allocation_type, data, address in self._tensors:
            tensor.shape, tensor.type, tensor.allocation_type = shape, type, allocation_type
            tensor.data, tensor.address = data, address
        for node, calls, temporaries, user_data in self._nodes:
            node.calls, node.temporaries, node.user_data = calls, list(temporaries), user_data
        graph.schedule = self._schedule
        graph.stages[:] = self._stages
        for stage in self._stages:
            if not stage.memory.held:
                stage.memory.acquire(graph)
                stage.plan.blocks.bind()


class Preparations:
    """The latest preparations of one graph, by its inputs' shapes.

    A graph is prepared anew where a run tells shapes, where nodes have effects or run other graphs, and where
    delegates have a part in it.
    """

    def __init__(self) -> None:
        self._kept: dict[Key, Preparation] = {}  # the oldest first
        self._holders: Counter[int] = Counter()  # how many preparations hold an array, by its identity
        self._bytes = 0  # of these arrays
        self._latest: Preparation | None = None  # the one that the graph has now

    def keep(self, graph: PreparedGraph) -> None:
        """Take the preparation of an allocated graph whose inputs are about to change."""
        latest, self._latest = self._latest, None
        if latest is not None:
            latest.put_away()
        elif _can_be_kept(graph):
            latest = Preparation(graph)
        else:
            return
        kept = self._kept
        kept[_key(graph)] = latest
        self._count(latest, 1)
        own = sum(latest.held.values())
        while len(kept) > _MOST or (len(kept) > 1 and self._bytes - own > _MOST_BYTES):
            self._count(kept.pop(next(iter(kept))), -1)

    def take(self, graph: PreparedGraph) -> Preparation | None:
        """The preparation for the present inputs, if there is one; it is the graph's again."""
        known = self._latest = self._kept.pop(_key(graph), None) if self._kept else None
        if known is not None:
            self._count(known, -1)
        return known

    def clear(self) -> None:
        self._kept.clear()
        self._holders.clear()
        self._bytes = 0
        self._latest = None

    @property
    def held(self) -> dict[int, int]:
        """The arrays and arenas that the preparations hold, by identity: their bytes."""
        return {array: size for kept in self._kept.values() for array, size in kept.held.items()}

    def _count(self, preparation: Preparation, holders: int) -> None:
        """Count in arrays that have got their first holder, and out those that have lost their last."""
        for array, nbytes in preparation.held.items():
            before = self._holders[array]
            self._holders[array] = before + holders
            if not before:
                self._bytes += nbytes
            elif not before + holders:
                self._bytes -= nbytes
                del self._holders[array]


def _key(graph: PreparedGraph) -> Key:
    inputs = [graph.tensors[t] for t in graph.inputs]
    return tuple((x.shape, x.type) for x in inputs)


def _can_be_kept(graph: PreparedGraph) -> bool:
    if len(graph.stages) != 1 or not graph.has_memory or not graph.is_planned:
        return False
    if graph.delegation is not None or any(True for _ in graph.callees):
        return False
    if any(node.registration.side_effects or not node.registration.is_own for node in graph.schedule):
        return False
    return all(tensor.allocation_type in _KINDS or tensor.is_variable for tensor in graph.tensors)
