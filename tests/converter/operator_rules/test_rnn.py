"""Loops that are a simple recurrent cell become one operator; loops that are nearly one stay loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.interpreter import Interpreter

from ..graphs import checked, operators, run_litert, run_numlite
from .test_control_flow import FLOAT, INT, integer, loop

BATCH, TIME, DEPTH, UNITS = 2, 5, 3, 4
RANDOM = np.random.default_rng(5)
KERNEL, RECURRENT = (RANDOM.normal(0, 0.5, (n, UNITS)).astype(np.float32) for n in (DEPTH, UNITS))
BIAS = RANDOM.normal(0, 0.5, UNITS).astype(np.float32)
RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])
# What a body makes of a step and the state.
Step = Callable[[GraphBuilder, str, str], str]


def total(g: GraphBuilder, x: str, h: str) -> str:
    """Keras's: x K + b + h R."""
    xk = g.node("MatMul", "xk", x, g.constant("k", KERNEL))
    biased = g.node("BiasAdd", "biased", xk, g.constant("b", BIAS))
    return g.node("AddV2", "sum", biased, g.node("MatMul", "hr", h, g.constant("r", RECURRENT)))


def activated(name: str) -> Step:
    return lambda g, x, h: g.node(name, "active", total(g, x, h))


def summed(g: GraphBuilder, x: str, h: str) -> str:
    """A sum over time, which no product takes."""
    return g.node("AddV2", "sum", g.node("MatMul", "xk", x, g.constant("k", KERNEL)), h)


def gated(g: GraphBuilder, x: str, h: str) -> str:
    return g.node("Mul", "gated", g.node("Tanh", "active", total(g, x, h)), h)


def rnn_loop(step: Step, batch: int = BATCH, steps: int = TIME, limit: int = TIME) -> GraphBuilder:
    """all are the outputs of steps of x, last is the last one."""
    g = GraphBuilder()
    g.placeholder("x", [steps, batch, DEPTH])
    g.placeholder("h0", [batch, UNITS])
    variables = {
        "i": (INT, integer(g, "first", 0)),
        "h": (FLOAT, "h0"),
        "list": (FLOAT, g.constant("list", np.zeros((steps, abs(batch), UNITS), np.float32))),
        "rows": (FLOAT, "x"),
    }

    def test(body: GraphBuilder) -> Sequence[str]:
        return [body.node("Less", "less", "i", integer(body, "limit", limit))]

    def turn(body: GraphBuilder) -> Sequence[str]:
        x = body.node("GatherV2", "row", "rows", "i", integer(body, "zero", 0))
        h = step(body, x, "h")
        item = body.node("ExpandDims", "item", h, integer(body, "front", 0))
        place = body.node("Pack", "place", "i", *[integer(body, "none", 0)] * 2)
        put = body.node("XlaDynamicUpdateSlice", "put", "list", item, place)
        return [body.node("AddV2", "next", "i", integer(body, "one", 1)), h, put, "rows"]

    loop(g, variables, test, turn)
    g.node("Identity", "all", "loop:2")
    g.node("Identity", "last", "loop:1")
    return g


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Tanh": np.tanh,
    "Relu": lambda x: np.maximum(x, 0),
    "Relu6": lambda x: np.clip(x, 0, 6),
    "Identity": lambda x: x,
}


def outputs(x: np.ndarray, h: np.ndarray, activation: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    given = []
    for row in x:
        h = activation(row @ KERNEL + BIAS + h @ RECURRENT)
        given.append(h)
    return np.stack(given)


def inputs() -> list[np.ndarray]:
    return [RANDOM.standard_normal(s).astype(np.float32) for s in ((TIME, BATCH, DEPTH), (BATCH, UNITS))]


@RUNTIMES
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_simple_cell_is_one_operator(run, name: str) -> None:
    graph = rnn_loop(activated(name)).graph_def
    model = checked(convert_graph(graph, ["x", "h0"], ["all", "last"]))
    made = operators(model)
    assert "UNIDIRECTIONAL_SEQUENCE_RNN" in made
    assert "WHILE" not in made
    x, h = inputs()
    expected = outputs(x, h, ACTIVATIONS[name])
    for y, wanted in zip(run(model, x, h), (expected, expected[-1]), strict=True):
        np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)


def test_runs_do_not_depend_on_the_runs_before() -> None:
    model = convert_graph(rnn_loop(activated("Tanh")).graph_def, ["x", "h0"], ["last"])
    interpreter = Interpreter(model_content=model)
    signature = interpreter.get_signature_runner()
    x, h = inputs()
    for _ in range(3):
        [y] = signature(x=x, h0=h).values()
        np.testing.assert_allclose(y, outputs(x, h, np.tanh)[-1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "graph",
    [
        rnn_loop(summed),
        rnn_loop(gated),
        rnn_loop(activated("Sigmoid")),
        rnn_loop(activated("Elu")),
        rnn_loop(activated("Tanh"), limit=TIME - 1),
    ],
    ids=["sum", "gate", "sigmoid", "elu", "fewer turns"],
)
def test_what_is_no_simple_cell_stays_a_loop(graph: GraphBuilder) -> None:
    made = operators(convert_graph(graph.graph_def, ["x", "h0"], ["all", "last"]))
    assert "UNIDIRECTIONAL_SEQUENCE_RNN" not in made
    assert "WHILE" in made
