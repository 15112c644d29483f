"""Loops and branches carry only what is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema import tflite
from numlite.schema.graph_def import AttrValue

from ..functions import add_function, types
from ..graphs import checked, operators, run_litert, run_numlite

FLOAT, INT, BOOL = 1, 3, 10
# Adds nodes to a body that has the variables; gives the names of what they become.
Step = Callable[[GraphBuilder], Sequence[str]]


def integer(g: GraphBuilder, name: str, value: int) -> str:
    return g.constant(name, np.array(value, np.int32))


def loop(
    g: GraphBuilder, variables: dict[str, tuple[int, str]], test: Step, step: Step, name: str = "loop"
) -> None:
    """A loop with variables of (type, initial value), by name; the test gives one name, the step all."""
    bodies = []
    for fill in (test, step):
        body = GraphBuilder()
        for each, (data_type, _) in variables.items():
            body.placeholder(each, None, data_type)
        bodies.append((body, list(fill(body))))
    (cond, tested), (body, stepped) = bodies
    functions = {
        "cond": add_function(g, f"{name}_test", cond, tested, BOOL),
        "body": add_function(g, f"{name}_step", body, stepped),
    }
    results = g.graph_def.library.function[-1].signature.output_arg
    for result, (data_type, _) in zip(results, variables.values(), strict=True):
        result.type = data_type
    held = types(*(data_type for data_type, _ in variables.values()))
    g.node("StatelessWhile", name, *(start for _, start in variables.values()), T=held, **functions)


def counting(last: str, counted: bool = False, offset: int = 0) -> GraphBuilder:
    """y = 2^n x, with a counter, and another variable that only counts too."""
    g = GraphBuilder()
    n, x = g.placeholder("n", [], INT), g.placeholder("x", [2])
    zero = integer(g, "zero", 0)
    variables = {"i": (INT, zero), "n": (INT, n), "x": (FLOAT, x), "k": (INT, integer(g, "ten", 10))}

    def test(body: GraphBuilder) -> Sequence[str]:
        limit = body.node("AddV2", "limit", "n", integer(body, "one", offset)) if offset else "n"
        return [body.node("Less", "less", "i", limit)]

    def step(body: GraphBuilder) -> Sequence[str]:
        one = integer(body, "one", 1)
        body.node("AddV2", "next", "i", one)
        body.node("AddV2", "more", "i" if counted else "k", one)
        body.node("AddV2", "y", "x", "x")
        return ["next", body.node("Identity", "same", "n"), "y", "more"]

    loop(g, variables, test, step)
    g.node("Identity", "y", last)
    return g


def converted(g: GraphBuilder, outputs: Sequence[str] = ("y",)) -> tuple[bytes, tflite.ModelT]:
    model = checked(convert_graph(g.graph_def, ["n", "x"], list(outputs)))
    return model, tflite.read(model)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("counted", [False, True])
def test_a_variable_that_nothing_needs_goes(run: Callable[..., list[np.ndarray]], counted: bool) -> None:
    model, read = converted(counting("loop:2", counted))
    [node] = read.subgraphs[0].operators
    assert len(node.inputs) == len(node.outputs) == 3
    assert [len(subgraph.operators) for subgraph in read.subgraphs] == [1, 1, 2]
    [y] = run(model, np.array(3, np.int32), np.array([1, -2], np.float32))
    np.testing.assert_array_equal(y, [8, -16])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_a_variable_whose_result_is_used_stays(run: Callable[..., list[np.ndarray]]) -> None:
    model, read = converted(counting("loop:3"))
    [node] = read.subgraphs[0].operators
    # The counter, its limit, and what is counted; x is not asked for.
    assert len(node.inputs) == 3
    [y] = run(model, np.array(3, np.int32), np.array([1, -2], np.float32))
    assert y == 13


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_a_variable_that_another_needs_stays(run: Callable[..., list[np.ndarray]]) -> None:
    g = GraphBuilder()
    n, x = g.placeholder("n", [], INT), g.placeholder("x", [2])
    variables = {"i": (INT, integer(g, "zero", 0)), "n": (INT, n), "x": (FLOAT, x), "f": (FLOAT, x)}

    def step(body: GraphBuilder) -> Sequence[str]:
        body.node("AddV2", "next", "i", integer(body, "one", 1))
        body.node("Mul", "product", "x", "f")
        body.node("AddV2", "factor", "f", body.constant("half", np.array(0.5, np.float32)))
        return ["next", body.node("Identity", "same", "n"), "product", "factor"]

    loop(g, variables, lambda body: [body.node("Less", "less", "i", "n")], step)
    g.node("Identity", "y", "loop:2")
    model, read = converted(g)
    assert len(read.subgraphs[0].operators[0].inputs) == 4
    [y] = run(model, np.array(2, np.int32), np.array([1, 2], np.float32))
    np.testing.assert_array_equal(y, [1.5, 10])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("same", [True, False])
def test_a_loop_takes_what_is_computed_already(run: Callable[..., list[np.ndarray]], same: bool) -> None:
    g = counting("loop:2", offset=2)
    # Beside the loop, n + 2 (which its test adds too) or n + 1.
    g.node("AddV2", "limit", "n", integer(g, "more", 2 if same else 1))
    model, read = converted(g, ["limit", "y"])
    assert sorted(operators(model)) == ["ADD", "WHILE"]
    assert len(read.subgraphs[1].operators) == (1 if same else 2)
    limit, y = run(model, np.array(1, np.int32), np.array([1, -2], np.float32))
    assert limit == (3 if same else 2)
    np.testing.assert_array_equal(y, [8, -16])


def branches(outputs: Sequence[str]) -> GraphBuilder:
    """p, q = (x + x, x * z) where n is positive, else (x, z)."""
    g = GraphBuilder()
    n, x, z = g.placeholder("n", [], INT), g.placeholder("x", [2]), g.placeholder("z", [2])
    then, otherwise = GraphBuilder(), GraphBuilder()
    for body in (then, otherwise):
        body.placeholder("x", None)
        body.placeholder("z", None)
    then.node("AddV2", "p", "x", "x")
    then.node("Mul", "q", "x", "z")
    positive = g.node("Greater", "positive", n, integer(g, "zero", 0))
    attributes = {
        "then_branch": add_function(g, "then", then, ["p", "q"]),
        "else_branch": add_function(g, "else", otherwise, ["x", "z"]),
    }
    shared = {"Tcond": AttrValue(type=BOOL), "Tin": types(FLOAT, FLOAT), "Tout": types(FLOAT, FLOAT)}
    g.node("StatelessIf", "if", positive, x, z, **attributes, **shared)
    for i, output in enumerate(outputs):
        g.node("Exp", output, f"if:{i}")
    return g


def test_results_of_branches_that_nothing_uses_go() -> None:
    model = checked(convert_graph(branches(["p"]).graph_def, ["n", "x", "z"], ["p"]))
    read = tflite.read(model)
    node = read.subgraphs[0].operators[1]
    assert (len(node.inputs), len(node.outputs)) == (2, 1)
    assert [len(subgraph.operators) for subgraph in read.subgraphs] == [3, 1, 0]
    for run in (run_numlite, run_litert):
        for n, expected in ((1, [4, -2]), (-1, [2, -1])):
            x, z = np.array([2, -1], np.float32), np.array([1, 1], np.float32)
            [p] = run(model, np.array(n, np.int32), x, z)
            np.testing.assert_allclose(p, np.exp(expected), rtol=1e-6)


def test_results_of_branches_that_are_used_stay() -> None:
    model = checked(convert_graph(branches(["p", "q"]).graph_def, ["n", "x", "z"], ["p", "q"]))
    node = tflite.read(model).subgraphs[0].operators[1]
    assert (len(node.inputs), len(node.outputs)) == (3, 2)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_a_loop_takes_what_is_computed_later(run: Callable[..., list[np.ndarray]]) -> None:
    g = counting("loop:2", offset=2)
    # n + 2, which the graph lists behind the loop as its outputs have it.
    g.node("AddV2", "limit", "n", integer(g, "more", 2))
    model, read = converted(g, ["y", "limit"])
    assert operators(model) == ["ADD", "WHILE"]
    assert len(read.subgraphs[1].operators) == 1
    y, limit = run(model, np.array(1, np.int32), np.array([1, -2], np.float32))
    assert limit == 3
    np.testing.assert_array_equal(y, [8, -16])


def test_a_loop_does_not_take_what_needs_its_result() -> None:
    g = counting("loop:2", offset=2)
    # n + 2 again, but of the n that a loop before gave: the same number, by another way.
    g.node("AddV2", "later", "loop:1", integer(g, "more", 2))
    _, read = converted(g, ["y", "later"])
    assert [len(subgraph.operators) for subgraph in read.subgraphs[1:]] == [1, 2]


@pytest.mark.parametrize("shape", [[2], [-1], []], ids=["known", "unknown", "scalar"])
def test_variables_that_change_places(shape: list[int]) -> None:
    """LiteRT assigns a loop's variables one after the other: what moves to a later one is copied before."""
    g = GraphBuilder()
    n = g.placeholder("n", [], INT)
    names = ["a", "b", "c"]
    variables = {"i": (INT, integer(g, "zero", 0)), "n": (INT, n)}
    variables |= {name: (FLOAT, g.placeholder(f"x_{name}", shape)) for name in names}

    def test(body: GraphBuilder) -> Sequence[str]:
        return [body.node("Less", "less", "i", "n")]

    def step(body: GraphBuilder) -> Sequence[str]:
        return [body.node("AddV2", "next", "i", integer(body, "one", 1)), "n", "b", "c", "a"]

    loop(g, variables, test, step)
    outputs = ["loop:2", "loop:3", "loop:4"]
    model = convert_graph(g.graph_def, ["n", *(f"x_{name}" for name in names)], outputs)
    inputs = [np.array(4, np.int32), *(np.array([k, k + 10] if shape else k, np.float32) for k in range(3))]
    wanted = [inputs[1:][(k + 4) % 3] for k in range(3)]
    for run in (run_numlite, run_litert):
        for result, expected in zip(run(model, *inputs), wanted, strict=True):
            np.testing.assert_array_equal(result, expected, err_msg=run.__name__)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_large_constants_of_one_number_are_filled(run: Callable[..., list[np.ndarray]]) -> None:
    g = GraphBuilder()
    n, x = g.placeholder("n", [], INT), g.placeholder("x", [300])
    zeros = [g.constant(f"zeros{i}", np.zeros(300, np.float32)) for i in range(2)]
    small = g.constant("small", np.zeros(4, np.float32))
    variables = {"i": (INT, integer(g, "zero", 0)), "n": (INT, n), "x": (FLOAT, x), "a": (FLOAT, zeros[0])}
    variables |= {"b": (FLOAT, zeros[1]), "c": (FLOAT, small)}

    def step(body: GraphBuilder) -> Sequence[str]:
        body.node("AddV2", "next", "i", integer(body, "one", 1))
        made = [body.node("AddV2", "more", "a", "x"), body.node("Sub", "less", "b", "x")]
        grown = body.node("AddV2", "grown", "c", body.constant("half", np.float32(0.5).reshape(())))
        return ["next", body.node("Identity", "same", "n"), body.node("Identity", "x2", "x"), *made, grown]

    loop(g, variables, lambda body: [body.node("Less", "less", "i", "n")], step)
    for i in range(3):
        g.node("Identity", f"y{i}", f"loop:{i + 3}")
    model, _ = converted(g, ("y0", "y1", "y2"))
    assert operators(model) == ["FILL", "WHILE"] and len(model) < 4096
    given = np.arange(300, dtype=np.float32)
    wanted = (3 * given, -3 * given, [1.5] * 4)
    for y, expected in zip(run(model, np.array(3, np.int32), given), wanted, strict=True):
        np.testing.assert_allclose(y, expected)
