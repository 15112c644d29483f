"""Stacks of TensorFlow 1: those from which nothing that is wanted is read need no builtin form."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert, convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.target_spec import Settings
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import AttrValue

from .graphs import checked, run_numlite
from .test_raise_control_flow import INT, RUNTIMES, loop, scalar

FLOAT, INTEGER = AttrValue(type=1), AttrValue(type=INT)
X = np.array([1, -2], np.float32)


def graph(reads: bool) -> GraphBuilder:
    """x * step, n times, each turn of which pushes x, and n times more; these turns pop what was pushed.

    If it reads, they multiply by what they pop, negated, in place of step.
    """
    g = GraphBuilder()
    limit, x, step = g.placeholder("n", [], INT), g.placeholder("x", [2]), g.placeholder("step", [])
    most = g.constant("most", scalar(-1, np.int32))
    stack = g.node("StackV2", "stack", most, elem_type=FLOAT)
    y = loop(g, "there", limit, x, step)
    held = g.node("Enter", "there/held", stack, frame_name="there", is_constant=True)
    push = g.node("StackPushV2", "there/push", held, "there/switch_x:1", "^there/following", T=FLOAT)
    loop(g, "back", limit, y, step)
    held = g.node("Enter", "back/held", stack, frame_name="back", is_constant=True)
    popped = g.node("StackPopV2", "back/popped", held, "^back/following", elem_type=FLOAT)
    made = g.node("Neg", "back/made", popped)
    nodes = {node.name: node for node in g.graph_def.node}
    nodes["there/next_i"].input.append(f"^{push}")
    nodes["back/next_i"].input.append(f"^{made}")
    if reads:
        nodes["back/product"].input[1] = made
    return g


@RUNTIMES
def test_what_nothing_reads_is_dropped(run) -> None:
    model = checked(convert_graph(graph(reads=False).graph_def, ["n", "x", "step"], ["back/exit_x"]))
    [z] = run(model, scalar(3, np.int32), X, scalar(3))
    np.testing.assert_array_equal(z, X * 3**6)


def test_what_is_read_stays() -> None:
    given = graph(reads=True).graph_def
    with pytest.raises(UnsupportedError, match=r"StackV2 .*--select-tf-ops"):
        convert_graph(given, ["n", "x", "step"], ["back/exit_x"])
    model = checked(convert(given, ["n", "x", "step"], ["back/exit_x"], settings=Settings(select=True)).model)
    [z] = run_numlite(model, scalar(3, np.int32), X, scalar(3))
    np.testing.assert_array_equal(z, -(X**4) * 3**6)


def nested(second: bool = False) -> GraphBuilder:
    """As graph, but that turns back pop how often a loop within them goes: "inner", x * step.

    What comes of it is "back/made", in which no result of "back" has a part. If there is a second stack,
    the turns back push it there, and others, "last", pop it from there and push x.
    """
    g = GraphBuilder()
    limit, x, step = g.placeholder("n", [], INT), g.placeholder("x", [2]), g.placeholder("step", [])
    y = loop(g, "there", limit, x, step)
    loop(g, "back", limit, y, step)
    stack(g, "stack", "there", "back", "there/i", INTEGER)
    inner = loop(g, "inner", "back/popped", "back/switch_x:1", "back/enter_step")
    nodes = {node.name: node for node in g.graph_def.node}
    nodes["inner/start"].input.append("^back/i")
    made = g.node("Neg", "back/made", inner)
    g.node("ControlTrigger", "back/sync", f"^{made}", "^inner/exit_i")
    nodes["back/next_i"].input.append("^back/sync")
    if second:
        loop(g, "last", limit, "back/exit_x", step)
        stack(g, "second", "back", "last", made, FLOAT)
        g.node("Neg", "last/made", "last/popped")
    return g


def stack(g: GraphBuilder, name: str, there: str, back: str, value: str, type: AttrValue) -> None:
    """A stack on which turns there push a value that is popped in turns back."""
    made = g.node("StackV2", name, g.constant(f"{name}/most", scalar(-1, np.int32)), elem_type=type)
    held = g.node("Enter", f"{name}/there", made, frame_name=there, is_constant=True)
    push = g.node("StackPushV2", f"{there}/push", held, value, f"^{there}/following", T=type)
    held = g.node("Enter", f"{name}/back", made, frame_name=back, is_constant=True)
    g.node("StackPopV2", f"{back}/popped", held, f"^{back}/following", elem_type=type)
    nodes = {node.name: node for node in g.graph_def.node}
    nodes[f"{there}/next_i"].input.append(f"^{push}")


@RUNTIMES
@pytest.mark.parametrize("second", [False, True])
def test_loops_that_hang_on_what_nothing_reads_are_dropped(run, second: bool) -> None:
    wanted = "last/exit_x" if second else "back/exit_x"
    model = checked(convert_graph(nested(second).graph_def, ["n", "x", "step"], [wanted]))
    [z] = run(model, scalar(2, np.int32), X, scalar(3))
    np.testing.assert_array_equal(z, X * 3 ** (6 if second else 4))


def refused(g: GraphBuilder, inputs: list[str], *wanted: str) -> None:
    with pytest.raises(UnsupportedError, match=r"StackV2 .*--select-tf-ops"):
        convert_graph(g.graph_def, inputs, list(wanted))


def by_select(g: GraphBuilder, *wanted: str) -> list[np.ndarray]:
    """The results of two turns, of a model that has TensorFlow's stacks."""
    converted = convert(g.graph_def, ["n", "x", "step"], list(wanted), settings=Settings(select=True))
    return run_numlite(checked(converted.model), scalar(2, np.int32), X, scalar(3))


def test_a_loop_of_which_a_result_is_wanted_stays() -> None:
    """Two turns: the second pops 0, the first value of the counter."""
    g = nested()
    g.node("Enter", "back/enter_kept", "x", frame_name="back")
    g.node("Merge", "back/merge_kept", "back/enter_kept", "back/next_kept")
    g.node("Switch", "back/switch_kept", "back/merge_kept", "back/LoopCond")
    kept = g.node("Exit", "back/exit_kept", "back/switch_kept")
    g.node("NextIteration", "back/next_kept", "back/made")
    refused(g, ["n", "x", "step"], "back/exit_x", kept)
    z, last = by_select(g, "back/exit_x", kept)
    np.testing.assert_array_equal(z, X * 3**4)
    np.testing.assert_array_equal(last, -X * 3**3)


@RUNTIMES
def test_what_no_one_wants_of_a_loop_is_dropped(run) -> None:
    """The Exit of a value that hangs on what is popped is there, but is no output."""
    g = graph(reads=True)
    model = checked(convert_graph(g.graph_def, ["n", "x", "step"], ["there/exit_x"]))
    [z] = run(model, scalar(3, np.int32), X, scalar(3))
    np.testing.assert_array_equal(z, X * 3**3)


def test_a_loop_that_checks_stays() -> None:
    """An Assert in a loop that goes as often as a popped value says."""
    g = nested()
    true = g.constant("true", np.array(True))
    held = g.node("Enter", "back/true", true, frame_name="back", is_constant=True)
    held = g.node("Enter", "inner/true", held, frame_name="inner", is_constant=True)
    g.node("Assert", "inner/check", held, "inner/i", "^inner/i", T=AttrValue(list={"type": [INT]}))
    refused(g, ["n", "x", "step"], "back/exit_x")


def test_a_second_stack_that_is_read_keeps_the_first() -> None:
    g = nested(second=True)
    nodes = {node.name: node for node in g.graph_def.node}
    nodes["last/product"].input[0] = "last/popped"
    refused(g, ["n", "x", "step"], "last/exit_x")
