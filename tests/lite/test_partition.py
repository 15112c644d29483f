"""The partitioner: TFLite's subsets on small graphs, and a checker's verdict on random ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite.lite.control_edges import chain, parse_control_dependencies, serialize_control_dependencies
from numlite.lite.errors import ModelError
from numlite.lite.partition import NodeSubset, PartitionMode, PlanNode, partition


def nodes_of(subsets: Sequence[NodeSubset]) -> list[list[int]]:
    return [list(subset.nodes) for subset in subsets]


# sin(x) + x + sin(2 x): tensor 0 is x, 1 the constant 2.
SIN = [
    PlanNode(0, (0,), (2,)),
    PlanNode(1, (2, 0), (3,)),
    PlanNode(2, (0, 1), (4,)),
    PlanNode(3, (4,), (5,)),
    PlanNode(4, (3, 5), (6,)),
]


def test_subsets_of_the_sine_example() -> None:
    subsets = partition(SIN, [6], {0, 3})
    assert nodes_of(subsets) == [[0], [1, 2], [3], [4]]
    assert [subset.chosen for subset in subsets] == [True, False, True, False]
    assert [subset.input_tensors for subset in subsets] == [(0,), (0, 1, 2), (4,), (3, 5)]
    assert [subset.output_tensors for subset in subsets] == [(2,), (3, 4), (5,), (6,)]


def test_original_order_cuts_the_plan_into_runs() -> None:
    subsets = partition(SIN, [6], {0, 2, 3}, mode=PartitionMode.ORIGINAL_ORDER)
    assert nodes_of(subsets) == [[0], [1], [2, 3], [4]]


def test_without_fusion_every_subset_has_one_node() -> None:
    assert nodes_of(partition(SIN, [6], {0, 3}, fuse=False)) == [[0], [1], [2], [3], [4]]


def test_fewest_waits_with_the_first_delegated_node() -> None:
    subsets = partition(SIN, [6], {0, 3}, mode=PartitionMode.FEWEST)
    assert nodes_of(subsets) == [[2], [0, 3], [1, 4]]


@pytest.mark.parametrize(
    ("control_edges", "expected"),
    [([], [[0, 1, 4], [2, 3], [5]]), ([(3, 4)], [[0, 1], [2, 3], [4, 5]])],
    ids=["data only", "3 before 4"],
)
def test_control_edges(control_edges: list[tuple[int, int]], expected: list[list[int]]) -> None:
    data = {0: [1], 1: [2, 4], 2: [3], 3: [5], 4: [5], 5: []}
    plan = [PlanNode(n, [m for m in data if n in data[m]], [n]) for n in data]
    assert nodes_of(partition(plan, [5], {2, 3}, control_edges)) == expected


def test_control_edges_in_a_circle_are_refused() -> None:
    with pytest.raises(ModelError, match="circle"):
        partition(SIN, [6], {0}, [(4, 0)])


def test_graph_output_that_is_an_input_belongs_to_no_subset() -> None:
    (subset,) = partition([PlanNode(0, (0, -1), (1,))], [0, 1], {0})
    assert subset.input_tensors == (0,) and subset.output_tensors == (1,)


def test_empty_plan() -> None:
    assert partition([], [0], set()) == []


Graph = tuple[list[PlanNode], list[int], set[int], list[tuple[int, int]]]


@st.composite
def graphs(draw: Any) -> Graph:
    """A plan whose nodes read earlier tensors, outputs, claims, and control edges that go forwards."""
    count = draw(st.integers(1, 24))
    plan, tensors = [], draw(st.integers(1, 3))
    for n in range(count):
        inputs = draw(st.lists(st.integers(-1, tensors - 1), max_size=3))
        written = draw(st.integers(1, 2))
        plan.append(PlanNode(n, tuple(inputs), tuple(range(tensors, tensors + written))))
        tensors += written
    pairs = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda e: e[0] < e[1])
    edges = draw(st.lists(pairs, max_size=6)) if count > 1 else []
    outputs = draw(st.lists(st.integers(0, tensors - 1), max_size=4))
    return plan, outputs, draw(st.sets(st.integers(0, count - 1))), edges


def check(graph: Graph, subsets: Sequence[NodeSubset]) -> None:
    """What any right partition satisfies, read off its definition."""
    plan, outputs, chosen, edges = graph
    order = [n for subset in subsets for n in subset.nodes]
    assert sorted(order) == [node.number for node in plan]
    for subset in subsets:
        assert subset.nodes
        assert {n in chosen for n in subset.nodes} == {subset.chosen}
    made: set[int] = set()
    written = {t for node in plan for t in node.outputs}
    for n in order:
        assert all(t in made for t in plan[n].inputs if t in written)
        made.update(plan[n].outputs)
    assert all(order.index(a) < order.index(b) for a, b in edges)
    for subset in subsets:
        inside = {t for n in subset.nodes for t in plan[n].outputs}
        read = {t for n in subset.nodes for t in plan[n].inputs if t >= 0}
        elsewhere = {t for other in plan if other.number not in subset.nodes for t in other.inputs}
        assert subset.input_tensors == tuple(sorted(read - inside))
        assert subset.output_tensors == tuple(sorted(inside & (elsewhere | set(outputs))))


@settings(max_examples=200)
@given(graphs(), st.sampled_from(PartitionMode), st.booleans())
def test_random_graphs(graph: Graph, mode: PartitionMode, fuse: bool) -> None:
    plan, outputs, chosen, edges = graph
    check(graph, partition(plan, outputs, chosen, edges, mode, fuse))


def epochs_by_sweeps(graph: Graph) -> list[list[int]]:
    """TFLite's greedy subsets as the walk-through writes them: sweeps over the whole plan."""
    plan, _, chosen, edges = graph
    unwritten = {t for node in plan for t in node.outputs}
    left = [node.number for node in plan]
    groups: list[list[int]] = []
    while left:
        group: list[int] = []
        progress = True
        while progress:
            progress = False
            for n in list(left):
                waiting = any(t in unwritten for t in plan[n].inputs)
                waiting = waiting or any(b == n and a in left for a, b in edges)
                if waiting or (group and (n in chosen) != (group[0] in chosen)):
                    continue
                group.append(n)
                left.remove(n)
                unwritten -= set(plan[n].outputs)
                progress = True
        groups.append(group)
    return groups


@settings(max_examples=150)
@given(graphs())
def test_greedy_is_the_sweep_algorithm(graph: Graph) -> None:
    plan, outputs, chosen, edges = graph
    assert nodes_of(partition(plan, outputs, chosen, edges)) == epochs_by_sweeps(graph)


@settings(max_examples=150)
@given(graphs())
def test_fewest_reaches_the_lower_bound(graph: Graph) -> None:
    """On any path the delegate needs a subset for each of its runs, and one path needs the most."""
    plan, outputs, chosen, edges = graph
    writer = {t: node.number for node in plan for t in node.outputs}
    runs: list[int] = []
    for node in plan:
        before = {writer[t] for t in node.inputs if t in writer} | {a for a, b in edges if b == node.number}
        inside = node.number in chosen
        runs.append(max([runs[n] + (inside and n not in chosen) for n in before], default=int(inside)))
        runs[-1] = max(runs[-1], int(inside))
    found = partition(plan, outputs, chosen, edges, PartitionMode.FEWEST)
    assert sum(subset.chosen for subset in found) == max(runs)


def test_metadata_round_trip() -> None:
    edges = [[(0, 300), (70000, 2)], [], [(5, 1)]]
    data = serialize_control_dependencies(edges)
    assert parse_control_dependencies(data) == edges
    assert data.startswith(b"\x01\x03\x02\x00\xd8\x04")


@pytest.mark.parametrize("data", [b"", b"\x02\x00", b"\x01\x01\x05", b"\x01\x81", b"\x01\x00\x00"])
def test_damaged_metadata(data: bytes) -> None:
    with pytest.raises(ModelError, match="model_control_dependencies"):
        parse_control_dependencies(data)


def test_chain() -> None:
    assert chain([1, 4, 9]) == [(1, 4), (4, 9)]


def test_variables_are_outputs_of_what_writes_them() -> None:
    """v += x twice, with a reader between: each subset that writes v gives it, and takes it."""
    plan = [PlanNode(0, (9, 0), (9,)), PlanNode(1, (9,), (1,)), PlanNode(2, (9, 1), (9,))]
    edges = [(0, 1), (1, 2)]
    (alone,) = partition(plan, [1], {0, 1, 2}, edges, variables={9})
    assert (alone.input_tensors, alone.output_tensors) == ((0, 9), (1, 9))
    subsets = partition(plan, [1], {0, 2}, edges, variables={9})
    assert [subset.output_tensors for subset in subsets] == [(9,), (1,), (9,)]
    assert [subset.input_tensors for subset in subsets] == [(0, 9), (9,), (1, 9)]
