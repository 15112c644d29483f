"""Lifetimes: reference counts, sharing in place, and a simulated run that reads every value back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numlite.lite.arena_checker import find_faults
from numlite.lite.arena_planner import plan_offsets
from numlite.lite.lifetimes import NOT_IN_ARENA, Lifetime, Liveness, compute_lifetimes
from numlite.lite.node import Node
from numlite.lite.registration import InplaceOperator, Registration

FIRST = InplaceOperator.INPUT0_SHARED
ADD_LIKE = InplaceOperator.INPUT0_SHARED | InplaceOperator.INPUT1_SHARED
RESHAPE_LIKE = InplaceOperator.INPUT0_SHARED | InplaceOperator.DATA_UNMODIFIED
PAIRWISE = ADD_LIKE | InplaceOperator.CAN_SHARE_WITH_CORRESPONDING_OUTPUT


def make_node(
    inputs: tuple[int, ...],
    outputs: tuple[int, ...],
    inplace: InplaceOperator = InplaceOperator.NONE,
    temporaries: tuple[int, ...] = (),
) -> Node:
    registration = Registration("OP", lambda context, node: None, inplace_operator=inplace)
    node = Node(0, registration, inputs, outputs)
    node.temporaries = list(temporaries)
    return node


def spans(liveness: Liveness) -> dict[int, tuple[int, int]]:
    return {lifetime.tensor: (lifetime.first, lifetime.last) for lifetime in liveness.lifetimes}


def test_chain() -> None:
    nodes = [make_node((0,), (1,)), make_node((1,), (2,)), make_node((2,), (3,))]
    liveness = compute_lifetimes(nodes, [4] * 4, [0], [3])
    assert spans(liveness) == {0: (0, 2), 1: (0, 1), 2: (1, 2), 3: (2, 2)}
    assert liveness.owners == {} and liveness.unwritten == []


def test_inputs_and_outputs_live_to_the_end() -> None:
    nodes = [make_node((0,), (1,)), make_node((1,), (2,)), make_node((2,), (3,))]
    assert spans(compute_lifetimes(nodes, [4] * 4, [0], [1, 3])) == {
        0: (0, 2),
        1: (0, 2),
        2: (1, 2),
        3: (2, 2),
    }


def test_temporaries_live_for_their_node() -> None:
    nodes = [make_node((0,), (1,), temporaries=(3,)), make_node((1,), (2,), temporaries=(4,))]
    found = spans(compute_lifetimes(nodes, [4] * 5, [0], [2]))
    assert found[3] == (0, 0) and found[4] == (1, 1)


def test_what_is_not_in_the_arena_has_no_lifetime() -> None:
    nodes = [make_node((0, 3, -1), (1,)), make_node((1,), (2,))]
    sizes = [4, NOT_IN_ARENA, 4, NOT_IN_ARENA]
    assert spans(compute_lifetimes(nodes, sizes, [0], [2])) == {0: (0, 1), 2: (1, 1)}


def test_an_output_nobody_reads_lives_for_its_node() -> None:
    nodes = [make_node((0,), (1, 2)), make_node((1,), (3,)), make_node((3,), (4,))]
    assert spans(compute_lifetimes(nodes, [4] * 5, [0], [4]))[2] == (0, 0)


def test_a_tensor_nobody_writes_is_reported_and_kept() -> None:
    liveness = compute_lifetimes([make_node((0, 2), (1,)), make_node((1,), (3,))], [4] * 4, [0], [3])
    assert liveness.unwritten == [2]
    assert spans(liveness)[2] == (0, 1)


def test_preserve_all_keeps_everything_and_shares_nothing() -> None:
    nodes = [make_node((0,), (1,)), make_node((1,), (2,), ADD_LIKE), make_node((2,), (3,))]
    liveness = compute_lifetimes(nodes, [4] * 4, [0], [3], preserve_all=True)
    assert spans(liveness) == {0: (0, 2), 1: (0, 2), 2: (1, 2), 3: (2, 2)}
    assert liveness.owners == {}


def test_empty_plan() -> None:
    assert spans(compute_lifetimes([], [4, 4], [0], [0])) == {0: (0, 0)}


def test_output_takes_over_its_input() -> None:
    nodes = [make_node((0,), (1,)), make_node((1,), (2,), ADD_LIKE), make_node((2,), (3,))]
    liveness = compute_lifetimes(nodes, [4] * 4, [0], [3])
    assert liveness.owners == {2: 1}
    assert spans(liveness) == {0: (0, 2), 1: (0, 2), 3: (2, 2)}


def test_second_input_serves_when_the_first_cannot() -> None:
    nodes = [make_node((0,), (1,)), make_node((0, 1), (2,), ADD_LIKE), make_node((2,), (3,))]
    assert compute_lifetimes(nodes, [4] * 4, [0], [3]).owners == {2: 1}


@pytest.mark.parametrize(
    ("reason", "nodes", "sizes", "outputs"),
    [
        ("graph input", [make_node((0,), (1,), ADD_LIKE), make_node((1,), (2,))], [4, 4, 4], [2]),
        ("graph output", [make_node((0,), (1,)), make_node((1,), (2,), ADD_LIKE)], [4, 4, 4], [2]),
        ("input is a graph output", [make_node((0,), (1,)), make_node((1,), (2,), ADD_LIKE)], [4] * 3, [1]),
        (
            "other size",
            [make_node((0,), (1,)), make_node((1,), (2,), ADD_LIKE), make_node((2,), (3,))],
            [4, 4, 8, 4],
            [3],
        ),
        (
            "read later",
            [make_node((0,), (1,)), make_node((1,), (2,), ADD_LIKE), make_node((2, 1), (3,))],
            [4] * 4,
            [3],
        ),
        (
            "both operands",
            [make_node((0,), (1,)), make_node((1, 1), (2,), ADD_LIKE), make_node((2,), (3,))],
            [4] * 4,
            [3],
        ),
        (
            "input is dynamic",
            [make_node((0,), (1,)), make_node((1,), (2,), ADD_LIKE), make_node((2,), (3,))],
            [4, NOT_IN_ARENA, 4, 4],
            [3],
        ),
    ],
)
def test_no_sharing(reason: str, nodes: list[Node], sizes: list[int], outputs: list[int]) -> None:
    assert compute_lifetimes(nodes, sizes, [0], outputs).owners == {}, reason


def test_unmodified_data_is_shared_by_several_readers_but_not_overwritten_under_them() -> None:
    nodes = [
        make_node((0,), (1,)),
        make_node((1,), (2,), RESHAPE_LIKE),
        make_node((1,), (3,), RESHAPE_LIKE),
        make_node((2,), (4,), ADD_LIKE),
        make_node((3, 4), (5,)),
    ]
    liveness = compute_lifetimes(nodes, [4] * 6, [0], [5])
    assert liveness.owners == {2: 1, 3: 1}
    assert spans(liveness)[1] == (0, 4)


def test_outputs_share_with_the_inputs_of_their_place() -> None:
    nodes = [make_node((0,), (1, 2)), make_node((1, 2), (3, 4), PAIRWISE), make_node((3, 4), (5,))]
    assert compute_lifetimes(nodes, [4] * 6, [0], [5]).owners == {3: 1, 4: 2}


def test_steps_cover_the_plan_without_repeating() -> None:
    nodes = [make_node((0,), (1,)), make_node((1,), (2,)), make_node((2, 1), (3,), ADD_LIKE)]
    nodes.append(make_node((3,), (4,)))
    sizes = [4] * 5
    begin = compute_lifetimes(nodes, sizes, [0], [4], first=0, last=1)
    rest = compute_lifetimes(nodes, sizes, [0], [4], first=2)
    assert spans(begin) == {0: (0, 3), 1: (0, 2), 2: (1, 2)}
    assert spans(rest) == {3: (2, 3), 4: (3, 3)}
    assert rest.owners == {}


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[Node], list[int], list[int], list[int]]:
    """A random plan, the size of each tensor, graph inputs and graph outputs."""
    sizes: list[int] = []

    def new_tensor() -> int:
        sizes.append(draw(st.sampled_from([0, 1, 4, 64, 65, 200])))
        return len(sizes) - 1

    inputs = [new_tensor() for _ in range(draw(st.integers(1, 3)))]
    known, nodes = list(inputs), []
    for _ in range(draw(st.integers(1, 12))):
        reads = tuple(draw(st.lists(st.sampled_from(known), min_size=1, max_size=3)))
        inplace = draw(st.sampled_from([InplaceOperator.NONE, ADD_LIKE, RESHAPE_LIKE, PAIRWISE]))
        writes = tuple(new_tensor() for _ in range(draw(st.integers(1, 2))))
        if inplace and draw(st.booleans()):
            sizes[writes[0]] = sizes[reads[0]]
        scratch = tuple(new_tensor() for _ in range(draw(st.integers(0, 1))))
        nodes.append(make_node(reads, writes, inplace, scratch))
        known += writes
    outputs = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3, unique=True))
    return nodes, sizes, inputs, outputs


def place(liveness: Liveness, offsets: list[int]) -> dict[int, int]:
    found = {lifetime.tensor: offset for lifetime, offset in zip(liveness.lifetimes, offsets, strict=True)}
    return found | {tensor: found[owner] for tensor, owner in liveness.owners.items()}


def run_twice(
    nodes: list[Node],
    sizes: list[int],
    inputs: list[int],
    outputs: list[int],
    where: dict[int, int],
    arena: int,
) -> None:
    """Run the plan on values that name their tensor; every read must find the value written."""
    memory = np.full(arena, -1)
    value: dict[int, int] = {}

    def write(t: int, token: int) -> None:
        value[t] = token
        memory[where[t] : where[t] + sizes[t]] = token

    def check(t: int) -> None:
        assert (memory[where[t] : where[t] + sizes[t]] == value[t]).all(), f"tensor {t} was overwritten"

    for t in inputs:
        write(t, t)
    for _ in range(2):
        for node in nodes:
            for t in node.inputs:
                check(t)
            for t in node.temporaries:
                write(t, -t)
            for k, t in enumerate(node.outputs):
                flags = node.registration.inplace_operator
                k = k if flags & InplaceOperator.CAN_SHARE_WITH_CORRESPONDING_OUTPUT else 0
                unmodified = flags & InplaceOperator.DATA_UNMODIFIED and t == node.outputs[0]
                write(t, value[node.inputs[0]] if unmodified else t)
        for t in (*inputs, *outputs):
            check(t)


@settings(max_examples=300)
@given(graphs())
def test_a_run_in_the_planned_arena_reads_what_was_written(
    graph: tuple[list[Node], list[int], list[int], list[int]],
) -> None:
    nodes, sizes, inputs, outputs = graph
    liveness = compute_lifetimes(nodes, sizes, inputs, outputs)
    offsets, arena = plan_offsets(liveness.lifetimes)
    assert find_faults(liveness.lifetimes, offsets, arena) == []
    where = place(liveness, offsets)
    run_twice(nodes, sizes, inputs, outputs, where, arena)


@settings(max_examples=100)
@given(graphs(), st.integers(0, 12))
def test_a_plan_made_in_two_steps_runs_too(
    graph: tuple[list[Node], list[int], list[int], list[int]], cut: int
) -> None:
    nodes, sizes, inputs, outputs = graph
    cut = min(cut, len(nodes) - 1)
    begin = compute_lifetimes(nodes, sizes, inputs, outputs, first=0, last=cut)
    offsets, arena = plan_offsets(begin.lifetimes)
    where = place(begin, offsets)
    fixed: list[tuple[Lifetime, int]] = list(zip(begin.lifetimes, offsets, strict=True))
    rest = compute_lifetimes(nodes, sizes, inputs, outputs, first=cut + 1)
    offsets, arena = plan_offsets(rest.lifetimes, fixed=fixed)
    where |= place(rest, offsets)
    everything = [*rest.lifetimes, *begin.lifetimes]
    assert find_faults(everything, [*offsets, *(offset for _, offset in fixed)], arena) == []
    run_twice(nodes, sizes, inputs, outputs, where, arena)


def test_an_output_takes_the_bytes_of_the_input_that_it_replaces() -> None:
    nodes = [make_node((0,), (2,)), make_node((1, 2), (3,), FIRST)]
    sizes = [4] * 4
    carried = compute_lifetimes(nodes, sizes, [0, 1], [2, 3], carried={2: 0, 3: 1})
    assert carried.owners == {3: 1} and spans(carried) == {0: (0, 1), 1: (0, 1), 2: (0, 1)}
    assert compute_lifetimes(nodes, sizes, [0, 1], [2, 3]).owners == {}
    assert compute_lifetimes(nodes, sizes, [0, 1], [3, 2], carried={3: 0, 2: 1}).owners == {}


def test_an_input_that_is_needed_later_keeps_its_bytes() -> None:
    update = make_node((0, 1), (2,), FIRST)
    for nodes, outputs in (
        ([update, make_node((0,), (3,))], [2, 3]),  # read behind the update
        ([update], [2, 0]),  # an output itself
        ([make_node((0, 0), (2,), FIRST)], [2, 1]),  # read twice
    ):
        assert compute_lifetimes(nodes, [4] * 4, [0, 1], outputs, carried={2: 0}).owners == {}
