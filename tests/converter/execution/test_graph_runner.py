"""run_graph and GraphRunner: feeds, fetches, order, state, and what graphs may not be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from google.protobuf import text_format
from numlite.converter import GraphRunner, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.ir import import_graph_def
from numlite.kernels.fallback.status import FailedPreconditionError, InvalidArgumentError
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema import graph_def
from numlite.schema.graph_def import AttrValue


def sums() -> GraphBuilder:
    """total = x + y; twice = total + total."""
    graph = GraphBuilder()
    x, y = graph.placeholder("x", [2]), graph.placeholder("y", [2])
    total = graph.node("AddN", "total", x, y)
    graph.node("AddN", "twice", total, total)
    return graph


def test_only_what_the_fetches_need_runs() -> None:
    graph = sums()
    graph.node("NoSuchOp", "other", "twice")
    x, y = np.float32([1, 2]), np.float32([10, 20])
    twice, total = run_graph(graph.graph_def, {"x": x, "y:0": y}, ["twice", "total:0"])
    np.testing.assert_array_equal(twice, np.float32([22, 44]))
    np.testing.assert_array_equal(total, np.float32([11, 22]))


def test_inner_tensors_can_be_fed() -> None:
    (twice,) = run_graph(sums().graph_def, {"total": [3, 4]}, ["twice"])
    assert twice.dtype == np.float32
    np.testing.assert_array_equal(twice, [6, 8])


def test_what_waits_for_a_fed_placeholder_may_run() -> None:
    graph = sums()
    graph.node("AddN", "after", "total", "total", "^x")
    assert run_graph(graph.graph_def, {"x": [1, 2], "y": [3, 4]}, ["after"])[0].tolist() == [8, 12]


@pytest.mark.parametrize("form", ["message", "bytes", "module", "path", "text"])
def test_a_graph_may_come_in_several_forms(form: str, tmp_path: Path) -> None:
    made = sums().graph_def
    path, text = tmp_path / "graph.pb", tmp_path / "graph.pbtxt"
    path.write_bytes(made.SerializeToString())
    text.write_text(text_format.MessageToString(made))
    sources = {"message": made, "bytes": made.SerializeToString(), "module": import_graph_def(made)}
    source = {**sources, "path": path, "text": str(text)}[form]
    np.testing.assert_array_equal(run_graph(source, {"total": [3, 4]}, ["twice"])[0], [6, 8])


def test_feeds_are_never_written_to() -> None:
    x, y = np.float32([1, 2]), np.float32([10, 20])
    run_graph(sums().graph_def, {"x": x, "y": y}, ["twice"])
    np.testing.assert_array_equal(x, [1, 2])
    np.testing.assert_array_equal(y, [10, 20])


def variable_graph() -> GraphBuilder:
    graph = GraphBuilder()
    value = graph.placeholder("value", [])
    float_type = AttrValue(type=graph_def.DT_FLOAT)
    handle = graph.node("VarHandleOp", "v", dtype=float_type, shape=AttrValue(shape={}))
    graph.node("AssignVariableOp", "init", handle, value)
    graph.node("AssignAddVariableOp", "add", handle, value)
    graph.node("ReadVariableOp", "read", handle, dtype=float_type)
    graph.node("ReadVariableOp", "read_after", handle, "^add", dtype=float_type)
    return graph


def test_variables_live_as_long_as_the_runner() -> None:
    runner = GraphRunner(variable_graph().graph_def)
    with pytest.raises(FailedPreconditionError, match=r"node 'read' \(ReadVariableOp\).*'v'"):
        runner.run({}, ["read"])
    runner.run({"value": 5}, targets=["init"])
    (before,) = runner.run({}, ["read"])
    (after,) = runner.run({"value": 2}, ["read_after"])
    before += 100
    assert (after, *runner.run({}, ["read"])) == (7, 7)


def test_every_missing_op_is_named_with_its_nodes() -> None:
    graph = sums()
    graph.node("NoSuchOp", "a", "twice")
    graph.node("NeitherThis", "b", "a")
    with pytest.raises(UnsupportedError, match=r"(?s)NeitherThis, NoSuchOp:.*'a'.*'b'"):
        run_graph(graph.graph_def, {"total": [3, 4]}, ["b"])


@pytest.mark.parametrize(
    ("feeds", "fetch", "message"),
    [
        ({"x": np.zeros(2)}, "twice", r"node 'x' .*must be fed float, got float64"),
        ({"x": np.zeros(3, np.float32)}, "twice", r"node 'x' .*must be fed a shape like \[2\], got \[3\]"),
        ({}, "twice", r"node 'x' \(Placeholder\): .*a value must be fed"),
    ],
    ids=["type", "shape", "nothing"],
)
def test_wrong_feeds_are_refused(feeds: dict[str, np.ndarray], fetch: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        run_graph(sums().graph_def, feeds, [fetch])


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (["gone"], "there is no node 'gone'"),
        (["^gone"], "there is no node 'gone'"),
        (["x:1"], "output 1 is read, but it has 1"),
        (["x:one"], "an output is named"),
        (["b"], "a circle must go through a NextIteration"),
        (["x", "x"], "must have 1 inputs, got 2"),
    ],
)
def test_damaged_graphs_are_refused_by_the_nodes_name(inputs: list[str], message: str) -> None:
    graph = GraphBuilder()
    graph.placeholder("x", [2])
    float_type = AttrValue(type=graph_def.DT_FLOAT)
    graph.node("Identity", "a", *inputs, T=float_type)
    graph.node("Identity", "b", "a", T=float_type)
    with pytest.raises(ModelError, match=message):
        run_graph(graph.graph_def, {"x": [1, 2]}, ["b"])


def test_two_nodes_of_one_name_are_refused() -> None:
    graph = sums()
    graph.placeholder("x", [2])
    with pytest.raises(ModelError, match="names must be unique, got 'x' twice"):
        GraphRunner(graph.graph_def)


def test_a_chain_of_many_nodes_takes_no_stack() -> None:
    graph = GraphBuilder()
    last = graph.placeholder("x", [])
    for i in range(20_000):
        last = graph.node("Identity", f"n{i}", last)
    assert run_graph(graph.graph_def, {"x": 3}, [last]) == [3]
