"""Stacks of TensorFlow 1: those from which nothing is read need no builtin form."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert, convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.target_spec import Settings
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import AttrValue

from .graphs import checked, run_litert, run_numlite
from .test_raise_control_flow import INT, loop, scalar

FLOAT = AttrValue(type=1)
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


@pytest.mark.parametrize("run", [run_litert, run_numlite])
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
