"""Partitioning: an execution plan as ordered subsets that are wholly inside or wholly outside a delegate."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from heapq import heapify, heappop, heappush

from ..schema.named_tuple import NamedTuple
from .errors import ModelError

ControlEdge = tuple[int, int]


class PartitionMode(Enum):
    """How nodes come together.

    GREEDY is TFLite's: the first ready node decides whether the next subset is the delegate's,
    and every node of that kind that is or becomes ready joins it. FEWEST does the same, but
    starts outside the delegate where it can, which gives the delegate the least possible number
    of subsets. ORIGINAL_ORDER keeps the plan's order and only cuts it into runs.
    """

    GREEDY = "greedy"
    FEWEST = "fewest"
    ORIGINAL_ORDER = "original order"


class PlanNode(NamedTuple):
    """A node of the plan: its number, and its tensors (-1 stands for one left out)."""

    number: int
    inputs: Sequence[int]
    outputs: Sequence[int]


@dataclass(frozen=True)
class NodeSubset:
    """Nodes that run one after another, in this order; chosen tells whether the delegate has them.

    input_tensors are what they read and do not write themselves (constants too), output_tensors
    what other subsets or the caller of the graph read; both are sorted and hold nothing twice.
    """

    chosen: bool
    nodes: tuple[int, ...]
    input_tensors: tuple[int, ...]
    output_tensors: tuple[int, ...]


def partition(
    plan: Sequence[PlanNode],
    outputs: Iterable[int],
    chosen: Collection[int],
    control_edges: Iterable[ControlEdge] = (),
    mode: PartitionMode = PartitionMode.GREEDY,
    fuse: bool = True,
    variables: Collection[int] = (),
) -> list[NodeSubset]:
    """Subsets of the plan in an order in which they can run, for a delegate that takes the chosen nodes.

    plan is in order of its data; outputs are the graph's. A control edge (a, b) has node a run
    before node b. Without fuse every subset has one node. Variables are outputs of whatever subset
    writes them, since their values stay until the next run. The time is linear in edges, and
    n log n in nodes.
    Raises ModelError when the edges leave a node that can never run.
    Source: LiteRT tflite/graph_info.h, PartitionGraphIntoIndependentNodeSubsets.
    """
    links = _Links(plan, control_edges)
    wanted = chosen if isinstance(chosen, (set, frozenset)) else frozenset(chosen)
    kinds = [node.number in wanted for node in plan]
    if mode is PartitionMode.ORIGINAL_ORDER:
        groups = _runs(links.in_order(), kinds)
    else:
        groups = links.epochs(kinds, outside_first=mode is PartitionMode.FEWEST)
    if not fuse:
        groups = [[position] for group in groups for position in group]
    return _subsets(plan, outputs, kinds, groups, links.producers, variables)


class _Links:
    """Who waits for whom, by positions in the plan."""

    def __init__(self, plan: Sequence[PlanNode], control_edges: Iterable[ControlEdge]) -> None:
        self.producers: dict[int, int] = {}
        for position, node in enumerate(plan):
            for t in node.outputs:
                if t >= 0:
                    self.producers[t] = position
        self._successors: list[list[int]] = [[] for _ in plan]
        self._waits = [0] * len(plan)
        self._has_backward_edge = False
        self._link_data(plan)
        self._link_control(plan, control_edges)

    def _link_data(self, plan: Sequence[PlanNode]) -> None:
        producers, successors, waits = self.producers, self._successors, self._waits
        for position, node in enumerate(plan):
            for t in node.inputs:
                producer = producers.get(t, position)
                if producer < position:
                    successors[producer].append(position)
                    waits[position] += 1
                elif producer > position:
                    # A variable: it is read here before that node writes it.
                    successors[position].append(producer)
                    waits[producer] += 1

    def _link_control(self, plan: Sequence[PlanNode], edges: Iterable[ControlEdge]) -> None:
        edges = tuple(edges)
        if not edges:
            return
        positions = {node.number: position for position, node in enumerate(plan)}
        for before, after in edges:
            if before in positions and after in positions and before != after:
                self._successors[positions[before]].append(positions[after])
                self._waits[positions[after]] += 1
                self._has_backward_edge |= positions[after] < positions[before]

    def in_order(self) -> list[int]:
        """All positions, each after those that it waits for, otherwise in the plan's order."""
        if not self._has_backward_edge:
            return list(range(len(self._waits)))
        groups = self.epochs([False] * len(self._waits), outside_first=False)
        return groups[0] if groups else []

    def epochs(self, kinds: Sequence[bool], outside_first: bool) -> list[list[int]]:
        """Groups of one kind, each as large as it can be when its turn comes.

        Inside a group the order is that of sweeps over the plan: whatever becomes ready behind
        the sweep's position joins in the next sweep.
        """
        waits, successors = self._waits.copy(), self._successors
        ready: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        for position, count in enumerate(waits):
            if not count:
                ready[kinds[position]].append((0, position))
        for heap in ready:
            heapify(heap)
        groups: list[list[int]] = []
        while ready[0] or ready[1]:
            kind = _kind_of_next(ready, outside_first)
            own, other = ready[kind], ready[not kind]
            group: list[int] = []
            while own:
                sweep, position = heappop(own)
                group.append(position)
                for after in successors[position]:
                    waits[after] -= 1
                    if waits[after]:
                        continue
                    if kinds[after] == kind:
                        heappush(own, (sweep + (after < position), after))
                    else:
                        heappush(other, (0, after))
            groups.append(group)
        if sum(map(len, groups)) < len(waits):
            stuck = next(position for position, count in enumerate(waits) if count)
            raise ModelError(f"partition: control edges must form no circle, got one through node {stuck}")
        return groups


def _kind_of_next(ready: tuple[list[tuple[int, int]], list[tuple[int, int]]], outside_first: bool) -> bool:
    """The kind of the first ready node of the plan, or outside where that is possible."""
    outside, inside = ready
    if not outside or not inside:
        return bool(inside)
    return not outside_first and inside[0][1] < outside[0][1]


def _runs(order: Sequence[int], kinds: Sequence[bool]) -> list[list[int]]:
    groups: list[list[int]] = []
    for position in order:
        if not groups or kinds[groups[-1][0]] != kinds[position]:
            groups.append([])
        groups[-1].append(position)
    return groups


def _subsets(
    plan: Sequence[PlanNode],
    outputs: Iterable[int],
    kinds: Sequence[bool],
    groups: Sequence[Sequence[int]],
    producers: dict[int, int],
    variables: Collection[int],
) -> list[NodeSubset]:
    group_of = [0] * len(plan)
    for number, group in enumerate(groups):
        for position in group:
            group_of[position] = number
    read: list[set[int]] = [set() for _ in groups]
    given: list[set[int]] = [set() for _ in groups]
    for number, group in enumerate(groups):
        for position in group:
            if variables:
                given[number].update(t for t in plan[position].outputs if t in variables)
            for t in plan[position].inputs:
                producer = producers.get(t)
                if producer is None or producer >= position:
                    read[number].add(t)
                elif group_of[producer] != number:
                    read[number].add(t)
                    given[group_of[producer]].add(t)
        read[number].discard(-1)
    for t in outputs:
        if t in producers:
            given[group_of[producers[t]]].add(t)
    return [
        NodeSubset(
            kinds[group[0]],
            tuple([plan[position].number for position in group]),
            tuple(sorted(read[number])),
            tuple(sorted(given[number])),
        )
        for number, group in enumerate(groups)
    ]
