"""Preparations: what preparing a graph, or a later stage of it, has found for shapes that it had before."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakSet

from .tensor import AllocationType

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np

    from .known_runs import KnownRuns
    from .lasting_plan import LastingPlan
    from .node import Node
    from .prepared_graph import PreparedGraph
    from .stage import Stage
    from .tensor import Shape, Tensor

    Key: TypeAlias = tuple[object, ...]
    _Former: TypeAlias = tuple[Tensor, Shape, int, AllocationType, np.ndarray | None, int]

_MOST = 64
_MOST_BYTES = 64 << 20  # of packed weights, tables and arenas, besides those of one preparation
SMALL_ARENA = 1 << 20

# Tensors of other kinds have values or memory that the preparation of a graph does not know.
_KINDS = (
    AllocationType.NONE,
    AllocationType.MMAP_RO,
    AllocationType.ARENA_RW,
    AllocationType.PERSISTENT_RO,
)


class Preparation:
    """A stage, and how the nodes and tensors that belong to it are while it runs.

    ends are the indexes of a whole graph's inputs and outputs.
    """

    def __init__(
        self, stage: Stage, nodes: Sequence[Node], tensors: Iterable[Tensor], ends: Sequence[int] = ()
    ) -> None:
        self.stage = stage
        self.held = arrays_of(nodes)
        if stage.memory.held:
            self.held[id(stage)] = stage.memory.arena_bytes
        self._nodes = [(node, node.calls, tuple(node.temporaries), node.user_data) for node in nodes]
        self._tensors: list[_Former] = []
        self._ends: list[_Former] = []
        for t in tensors:
            if t.allocation_type is not AllocationType.MMAP_RO:
                former = t, t.shape, t.type, t.allocation_type, t.data, t.address
                (self._ends if t.index in ends else self._tensors).append(former)
            if t.is_dynamic and t.data is not None:
                self.held[id(t.data)] = t.data.nbytes

    def put_back(self) -> None:
        """Have nodes and tensors as they were."""
        _put_back(self._ends)
        self._put_back_inner()

    def _put_back_inner(self) -> None:
        _put_back(self._tensors)
        for node, calls, temporaries, user_data in self._nodes:
            node.calls, node.temporaries, node.user_data = calls, list(temporaries), user_data

    def restore(self, graph: PreparedGraph) -> None:
        """Have nodes and tensors as they were; what earlier stages have written may lie elsewhere now."""
        graph.settle()
        self.put_back()
        if not self.stage.memory.held:
            self.stage.memory.acquire(graph)
        self.stage.plan.blocks.bind()
        self.stage.borrows = False

    def restore_whole(self, graph: PreparedGraph) -> None:
        """Have a whole graph as it was, its nodes and the tensors inside it not before someone looks at them.

        A native plan that has its memory reads neither.
        """
        if graph.variables or graph.native_plan is None or self.stage.borrows or not self.stage.memory.held:
            self.restore(graph)
            return
        _put_back(self._ends)
        graph.put_off(self._put_back_inner)


def _put_back(tensors: list[_Former]) -> None:
    for tensor, shape, type, allocation_type, data, address in tensors:
        tensor.shape, tensor.type, tensor.allocation_type = shape, type, allocation_type
        tensor.data, tensor.address = data, address


class Preparations:
    """The latest preparations, by what they were made for."""

    def __init__(self) -> None:
        self._kept: dict[Key, Preparation] = {}  # the oldest first
        self._holders: Counter[int] = Counter()  # how many preparations hold an array, by its identity
        self._bytes = 0  # of these arrays

    def put(self, key: Key, latest: Preparation) -> None:
        kept = self._kept
        before = kept.pop(key, None)
        kept[key] = latest
        if before is latest:
            return
        if before is not None:
            self._count(before, -1)
        self._count(latest, 1)
        own = sum(latest.held.values())
        while len(kept) > _MOST or (len(kept) > 1 and self._bytes - own > _MOST_BYTES):
            self._count(kept.pop(next(iter(kept))), -1)

    def get(self, key: Key) -> Preparation | None:
        return self._kept.get(key)

    def clear(self) -> None:
        self._kept.clear()
        self._holders.clear()
        self._bytes = 0

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


class EarlierShapes:
    """What one graph was prepared for before: whole, by its inputs, and its later stages, by what a run gave.

    It is prepared anew where nodes have effects or run other graphs, and where delegates have a part in it.
    """

    def __init__(self) -> None:
        self._whole = Preparations()
        self._latest: Preparation | None = None  # the whole graph's, which it has now
        self._stages = Preparations()
        self.runs: KnownRuns | None = None
        self._lasting = WeakSet["LastingPlan"]()

    def add_lasting(self, plan: LastingPlan) -> None:
        """Have a plan last until all is cleared."""
        self._lasting.add(plan)

    def keep(self, graph: PreparedGraph) -> None:
        """Keep the preparation of an allocated graph whose inputs are about to change."""
        self._clear_stages()
        latest, self._latest = self._latest, None
        if latest is not None:
            _put_away(graph, latest.stage)
        elif is_whole(graph) and may_be_kept(graph, graph.schedule):
            _put_away(graph, graph.stages[0])
            ends = (*graph.inputs, *graph.outputs)
            latest = Preparation(graph.stages[0], graph.schedule, graph.tensors, ends)
        else:
            return
        self._whole.put(_inputs(graph), latest)

    def restore(self, graph: PreparedGraph) -> bool:
        """Give the graph its preparation for the present inputs, if there is one."""
        self._clear_stages()
        known = self._latest = self._whole.get(_inputs(graph))
        if known is None:
            return False
        graph.schedule = list(known.stage.plan.nodes)
        graph.stages[:] = [known.stage]
        known.restore_whole(graph)
        return True

    def keep_stages(self, graph: PreparedGraph, number: int) -> None:
        """Take away the stages from this number on, before others that the run calls for."""
        for stage in graph.stages[number:]:
            nodes = graph.schedule[stage.first : stage.last + 1]
            known = self.runs is not None and self.runs.leave(stage)
            if not known and stage.memory.held and may_be_kept(graph, nodes):
                _put_away(graph, stage)
                self._stages.put(stage.found, stage_preparation(graph, stage))
        del graph.stages[number:]

    def restore_stage(self, graph: PreparedGraph, key: Key) -> bool:
        """Append the stage that was prepared for what the run has given, if there is one."""
        if self.runs is not None and self.runs.restore(graph, key):
            return True
        known = self._stages.get(key)
        if known is None:
            return False
        graph.stages.append(known.stage)
        known.restore(graph)
        return True

    def _clear_stages(self) -> None:
        self._stages.clear()
        self.runs = None

    def clear(self) -> None:
        self._whole.clear()
        self._clear_stages()
        self._latest = None
        for plan in self._lasting:
            plan.drop()
        self._lasting.clear()

    @property
    def held(self) -> dict[int, int]:
        """What is held besides the present preparation, by identity: the bytes."""
        lasting = {plan.identity: plan.nbytes for plan in self._lasting}
        runs = {} if self.runs is None else self.runs.held
        return self._whole.held | self._stages.held | runs | lasting


def _put_away(graph: PreparedGraph, stage: Stage) -> None:
    """Give a large arena back; preparations made after that do not hold it."""
    if stage.memory.arena_bytes > SMALL_ARENA:
        stage.memory.release(graph)


def stage_preparation(graph: PreparedGraph, stage: Stage) -> Preparation:
    """A later stage as it is while it runs."""
    nodes = graph.schedule[stage.first : stage.last + 1]
    written = [t for node in nodes for t in (*node.outputs, *node.temporaries) if t >= 0]
    return Preparation(stage, nodes, (graph.tensors[t] for t in written))


def arrays_of(nodes: Iterable[Node]) -> dict[int, int]:
    """The arrays that the calls of prepared nodes hold, by identity: their bytes."""
    calls = (call for node in nodes for call in node.calls or ())
    return {id(array): array.nbytes for call in calls for array in call.keep}


def found(graph: PreparedGraph, first: int) -> Key:
    """What a stage from this position on is prepared for, besides the inputs: what came out before it."""
    written = (graph.tensors[t] for node in graph.schedule[:first] for t in node.outputs if t >= 0)
    return first, graph.resources.generation, *(tensor.shape for tensor in written if tensor.is_dynamic)


def _inputs(graph: PreparedGraph) -> Key:
    inputs = map(graph.tensor, graph.inputs)
    return tuple((x.shape, x.type) for x in inputs)


def is_whole(graph: PreparedGraph) -> bool:
    """Whether the graph has one stage, all of whose tensors a preparation knows."""
    if len(graph.stages) != 1 or not graph.has_memory or not graph.is_planned:
        return False
    return all(tensor.allocation_type in _KINDS or tensor.is_variable for tensor in graph.tensors)


def may_be_kept(graph: PreparedGraph, nodes: Sequence[Node]) -> bool:
    """Whether preparing these nodes had no effects but on them and their tensors."""
    if graph.delegation is not None:
        return False
    return all(node.registration.is_own and not node.registration.side_effects for node in nodes)
