"""V1 control flow: loops in frames, and branches that are not taken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numlite.converter import GraphRunner, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import InvokeError, ModelError
from numlite.schema import graph_def

from .loops import while_loop

INT = graph_def.DT_INT32


def integers(graph: GraphBuilder, *names: str) -> list[str]:
    return [graph.placeholder(name, [], INT) for name in names]


def constant(graph: GraphBuilder, value: int, near: str) -> str:
    """A constant of the loop that a node is in: it comes to each iteration with that node."""
    name = graph.constant(
        f"{near.replace(':', '_')}/{value}/{len(graph.graph_def.node)}", np.array(value, np.int32)
    )
    graph.graph_def.node[-1].input.append(f"^{near.partition(':')[0]}")
    return name


def counted(
    graph: GraphBuilder, frame: str, count: str, x: str, step: str, parallel_iterations: int = 10
) -> list[str]:
    """(count, x + count * step), by a loop."""
    zero = graph.constant(f"{frame}_zero", np.array(0, np.int32))

    def body(values: Sequence[str]) -> list[str]:
        i, a, _, by = values
        one = constant(graph, 1, f"{frame}/cond")
        return [
            graph.node("AddN", f"{frame}/i", i, one),
            graph.node("AddN", f"{frame}/a", a, by),
        ]

    def cond(values: Sequence[str]) -> str:
        return graph.node("Less", f"{frame}/less", values[0], values[2])

    return while_loop(graph, frame, [zero, x], cond, body, [count, step], parallel_iterations)


@pytest.mark.parametrize("parallel_iterations", [1, 2, 10])
@pytest.mark.parametrize("count", [-1, 0, 1, 7])
def test_a_loop_runs_while_its_condition_holds(count: int, parallel_iterations: int) -> None:
    graph = GraphBuilder()
    n, x, by = integers(graph, "n", "x", "by")
    exits = counted(graph, "loop", n, x, by, parallel_iterations)
    i, total = run_graph(graph.graph_def, {"n": count, "x": 5, "by": 3}, exits)
    assert (i, total) == (max(count, 0), 5 + 3 * max(count, 0))


def test_loops_run_within_loops() -> None:
    graph = GraphBuilder()
    n, x = integers(graph, "n", "x")
    zero = graph.constant("zero", np.array(0, np.int32))

    def body(values: Sequence[str]) -> list[str]:
        i, a, _ = values
        inner_zero = constant(graph, 0, "outer/cond")

        def inner_body(inner: Sequence[str]) -> list[str]:
            j, b, _ = inner
            one = constant(graph, 1, "inner/cond")
            return [graph.node("AddN", "inner/j", j, one), graph.node("AddN", "inner/b", b, j)]

        def inner_cond(inner: Sequence[str]) -> str:
            return graph.node("Less", "inner/less", inner[0], inner[2])

        exits = while_loop(graph, "inner", [inner_zero, a], inner_cond, inner_body, [i])
        return [graph.node("AddN", "outer/i", i, constant(graph, 1, "outer/cond")), exits[1]]

    def cond(values: Sequence[str]) -> str:
        return graph.node("Less", "outer/less", values[0], values[2])

    exits = while_loop(graph, "outer", [zero, x], cond, body, [n])
    (total,) = run_graph(graph.graph_def, {"n": 6, "x": 100}, [exits[1]])
    assert total == 100 + sum(sum(range(i)) for i in range(6))


def branched(graph: GraphBuilder) -> tuple[str, str]:
    """Outputs of a switch on "taken": x where it is true, x where it is false."""
    taken = graph.placeholder("taken", [], graph_def.DT_BOOL)
    (x,) = integers(graph, "x")
    switch = graph.node("Switch", "switch", x, taken)
    return f"{switch}:1", switch


@pytest.mark.parametrize("taken", [True, False])
def test_a_merge_gives_what_the_taken_branch_gives(taken: bool) -> None:
    graph = GraphBuilder()
    yes, no = branched(graph)
    doubled = graph.node("AddN", "doubled", yes, yes)
    merge = graph.node("Merge", "merge", no, doubled)
    value, index = run_graph(graph.graph_def, {"taken": taken, "x": 4}, [merge, f"{merge}:1"])
    assert (value, index) == ((8, 1) if taken else (4, 0))


@pytest.mark.parametrize("taken", [True, False])
def test_a_loop_in_a_branch_that_is_not_taken_gives_nothing(taken: bool) -> None:
    graph = GraphBuilder()
    yes, no = branched(graph)
    n, by = integers(graph, "n", "by")
    exits = counted(graph, "loop", n, yes, by)
    merge = graph.node("Merge", "merge", no, exits[1])
    feeds = {"taken": taken, "x": 4, "n": 2, "by": 10}
    runner = GraphRunner(graph.graph_def)
    assert runner.run(feeds, [merge]) == [24 if taken else 4]
    if not taken:
        with pytest.raises(InvokeError, match="'loop/exit1': it has no value, because its branch was not"):
            runner.run(feeds, [exits[1]])


@pytest.mark.parametrize("taken", [True, False])
def test_nodes_after_a_dead_one_are_dead_but_triggers_are_not(taken: bool) -> None:
    graph = GraphBuilder()
    yes, _ = branched(graph)
    inside = graph.node("Identity", "inside", yes)
    after = graph.node("Identity", "after", "x", f"^{inside}")
    graph.node("ControlTrigger", "trigger", f"^{after}")
    triggered = graph.node("Identity", "triggered", "x", "^trigger")
    merge = graph.node("Merge", "merge", after, after)
    runner = GraphRunner(graph.graph_def)
    assert runner.run({"taken": taken, "x": 4}, [triggered]) == [4]
    if taken:
        assert runner.run({"taken": True, "x": 4}, [merge]) == [4]
    else:
        with pytest.raises(InvokeError, match="'merge': it has no value"):
            runner.run({"taken": False, "x": 4}, [merge])


@pytest.mark.parametrize("index", [0, 1, 2, 3, -1])
def test_switch_n_takes_the_last_branch_for_an_index_without_one(index: int) -> None:
    graph = GraphBuilder()
    x, chosen = integers(graph, "x", "index")
    switch = graph.node("_SwitchN", "switch", x, chosen, num_outs=3)
    merge = graph.node("Merge", "merge", *(f"{switch}:{i}" for i in range(3)))
    value, place = run_graph(graph.graph_def, {"x": 4, "index": index}, [merge, f"{merge}:1"])
    assert (value, place) == (4, index if index in range(3) else 2)


@pytest.mark.parametrize("op", ["Exit", "NextIteration"])
def test_nodes_of_loops_must_be_in_one(op: str) -> None:
    graph = GraphBuilder()
    (x,) = integers(graph, "x")
    graph.node(op, "stray", x)
    with pytest.raises(ModelError, match=rf"node 'stray' \({op}\): it must be in a loop"):
        run_graph(graph.graph_def, {"x": 1}, ["stray"])


def test_a_loop_that_ends_twice_is_refused() -> None:
    """What the exit gives comes from the loop's start, in every iteration."""
    graph = GraphBuilder()
    n, x, by = integers(graph, "n", "x", "by")
    exits = counted(graph, "loop", n, x, by)
    nodes = {node.name: node for node in graph.graph_def.node}
    nodes[exits[1]].input[0] = "loop/merge1"
    graph.node("AddN", "total", exits[1], "later")
    # Long after the loop, so that both values come before it is there.
    graph.node("Identity", "later", exits[0])
    nodes["loop/exit0"].input[0] = "loop/switch0"
    with pytest.raises(ModelError, match=r"node 'total' \(AddN\): input 0 must come once"):
        run_graph(graph.graph_def, {"n": 3, "x": 1, "by": 1}, ["total"])
