"""If, While, Case and calls become what computes the same, in LiteRT and in numlite."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert, convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema import tflite
from numlite.schema.graph_def import AttrValue

from ..functions import add_function, types
from ..graphs import checked, operators, run_litert, run_numlite

FLOAT, INT, BOOL = 1, 3, 10
RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])


def scalar(value: float, dtype: type = np.float32) -> np.ndarray:
    return np.array(value, dtype)


def scaling(factor: float) -> GraphBuilder:
    """y = x * factor."""
    body = GraphBuilder()
    body.node("Mul", "y", body.placeholder("x", None), body.constant("factor", scalar(factor)))
    return body


def if_graph() -> GraphBuilder:
    """y = 2 x where the sum of x is positive, else -3 x."""
    g = GraphBuilder()
    x = g.placeholder("x", [4])
    total = g.node("Sum", "total", x, g.constant("axes", np.array([0], np.int32)), Tidx=AttrValue(type=INT))
    positive = g.node("Greater", "positive", total, g.constant("zero", scalar(0)))
    then = add_function(g, "twice", scaling(2), ["y"])
    otherwise = add_function(g, "thrice", scaling(-3), ["y"])
    attributes = {"then_branch": then, "else_branch": otherwise, "Tout": types(FLOAT)}
    g.node("StatelessIf", "y", positive, x, **attributes, Tcond=AttrValue(type=BOOL), Tin=types(FLOAT))
    return g


@RUNTIMES
@pytest.mark.parametrize("sign", [1, -1])
def test_if(run, sign: int) -> None:
    x = sign * np.array([1, 2, -1, 3], np.float32)
    model = checked(convert_graph(if_graph().graph_def))
    assert operators(model) == ["SUM", "GREATER", "IF"]
    [y] = run(model, x)
    np.testing.assert_array_equal(y, x * (2 if sign > 0 else -3))


def test_constant_condition_leaves_one_branch() -> None:
    g = if_graph()
    for node in g.graph_def.node:
        if node.name == "y":
            node.input[0] = g.constant("always", np.array(True))
    assert operators(convert_graph(g.graph_def, ["x"], ["y"])) == ["MUL"]


def case_graph() -> GraphBuilder:
    g = GraphBuilder()
    index, x = g.placeholder("index", [], INT), g.placeholder("x", [2])
    branches = [add_function(g, f"by_{i}", scaling(factor), ["y"]).func for i, factor in enumerate((2, 3, 5))]
    listed = AttrValue(list=AttrValue.ListValue(func=branches))
    g.node("StatelessCase", "y", index, x, branches=listed, Tin=types(FLOAT), Tout=types(FLOAT))
    return g


@RUNTIMES
@pytest.mark.parametrize(("index", "factor"), [(0, 2), (1, 3), (2, 5), (-1, 5), (7, 5)])
def test_case_with_an_index_out_of_range_takes_the_last(run, index: int, factor: int) -> None:
    x = np.array([1, -2], np.float32)
    [y] = run(checked(convert_graph(case_graph().graph_def)), scalar(index, np.int32), x)
    np.testing.assert_array_equal(y, x * factor)


def while_graph(initial_shape: list[int], grows: bool = False) -> GraphBuilder:
    """x is multiplied by a constant (or put behind itself) n times."""
    g = GraphBuilder()
    n, x = g.placeholder("n", [], INT), g.placeholder("x", initial_shape)
    start, factor = g.constant("start", scalar(0, np.int32)), g.constant("factor", scalar(3))

    def variables(body: GraphBuilder) -> list[str]:
        ints = [body.placeholder("i", None, INT), body.placeholder("n", None, INT)]
        return [*ints, body.placeholder("x", None), body.placeholder("factor", None)]

    cond, body = GraphBuilder(), GraphBuilder()
    i, count, *_ = variables(cond)
    cond.node("Less", "less", i, count)
    i, count, value, f = variables(body)
    body.node("AddV2", "next", i, body.constant("one", scalar(1, np.int32)))
    if grows:
        body.node("ConcatV2", "y", value, value, body.constant("axis", scalar(0, np.int32)))
    else:
        body.node("Mul", "y", value, f)
    body.node("Identity", "same_n", count)
    held = types(INT, INT, FLOAT, FLOAT)
    functions = {
        "cond": add_function(g, "test", cond, ["less"], BOOL),
        "body": add_function(g, "step", body, ["next", "same_n", "y", f]),
    }
    for argument, number in zip(
        g.graph_def.library.function[1].signature.output_arg, (INT, INT, FLOAT, FLOAT), strict=True
    ):
        argument.type = number
    g.node("StatelessWhile", "loop", start, n, x, factor, T=held, **functions)
    g.node("Identity", "y", "loop:2")
    return g


@RUNTIMES
@pytest.mark.parametrize("n", [0, 1, 4])
def test_while(run, n: int) -> None:
    x = np.array([1, -2], np.float32)
    model = checked(convert_graph(while_graph([2]).graph_def, ["n", "x"], ["y"]))
    [y] = run(model, scalar(n, np.int32), x)
    np.testing.assert_array_equal(y, x * 3**n)


def test_constants_of_a_loop_are_inside_of_it() -> None:
    model = tflite.read(convert_graph(while_graph([2]).graph_def, ["n", "x"], ["y"]))
    [loop] = model.subgraphs[0].operators
    # The counter, its limit and x; the factor is a constant of the body.
    assert len(loop.inputs) == len(loop.outputs) == 3
    assert [len(subgraph.inputs) for subgraph in model.subgraphs] == [2, 3, 3]
    assert [subgraph.name for subgraph in model.subgraphs] == ["main", "loop_cond", "loop_body"]


@RUNTIMES
def test_shapes_that_change_in_a_loop(run) -> None:
    model = checked(convert_graph(while_graph([1, 2], grows=True).graph_def, ["n", "x"], ["y"]))
    subgraph = tflite.read(model).subgraphs[0]
    assert subgraph.tensors[subgraph.outputs[0]].shape_signature.tolist() == [-1, 2]
    [y] = run(model, scalar(3, np.int32), np.array([[1, 2]], np.float32))
    np.testing.assert_array_equal(y, np.tile([[1, 2]], (8, 1)))


def call_graph(called: str) -> GraphBuilder:
    """outer(x) = called(x), and inner(x) = 2 x."""
    g = GraphBuilder()
    add_function(g, "inner", scaling(2), ["y"])
    body = GraphBuilder()
    attributes = {"Tin": types(FLOAT), "Tout": types(FLOAT)}
    inner = AttrValue()
    inner.func.name = called
    body.node("PartitionedCall", "call", body.placeholder("x", None), f=inner, **attributes)
    outer = add_function(g, "outer", body, ["call"])
    g.node("StatefulPartitionedCall", "y", g.placeholder("x", [2]), f=outer, **attributes)
    return g


def test_calls_are_inlined() -> None:
    conversion = convert(call_graph("inner").graph_def)
    assert operators(conversion.model) == ["MUL"]
    assert {outcome.node: outcome.became for outcome in conversion.outcomes} == {"x": "input", "y": "inlined"}


@pytest.mark.parametrize(
    ("called", "message"),
    [
        ("outer", "functions must not call themselves, got outer -> outer"),
        ("nowhere", "the library has no function 'nowhere'"),
    ],
)
def test_wrong_calls(called: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        convert_graph(call_graph(called).graph_def)
    assert message in str(caught.value)


def test_failures_in_functions_name_them() -> None:
    g = if_graph()
    g.graph_def.library.function[0].node_def.add(op="Digamma", name="f", input=["x"])
    g.graph_def.library.function[0].node_def[-1].attr["T"].type = FLOAT
    g.graph_def.library.function[0].ret["out0"] = "f"
    with pytest.raises(UnsupportedError) as caught:
        convert_graph(g.graph_def)
    assert "Digamma (node 'y/then/f' of function 'twice')" in str(caught.value)


def test_branches_of_different_types() -> None:
    g = if_graph()
    g.graph_def.library.function[0].ret["out0"] = "c"
    c = GraphBuilder()
    c.constant("c", scalar(1, np.int32))
    g.graph_def.library.function[0].node_def.add().CopyFrom(c.graph_def.node[0])
    with pytest.raises(ModelError, match="branches must give the same types"):
        convert_graph(g.graph_def)
