"""Loops that are an LSTM become one operator; loops that are nearly one stay loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numlite.converter import convert_graph, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema.graph_def import AttrValue

from ..graphs import checked, operators, run_litert, run_numlite
from ..lowering.test_recurrent import CASES, array, unpacked
from .test_control_flow import FLOAT, INT, integer, loop

LONG = 9
BATCH, TIME, DEPTH, UNITS = 2, 5, 3, 4
RANDOM = np.random.default_rng(3)
KERNEL, RECURRENT = (RANDOM.normal(0, 0.5, (n, 4 * UNITS)).astype(np.float32) for n in (DEPTH, UNITS))
BIAS = RANDOM.normal(0, 0.5, 4 * UNITS).astype(np.float32)
# The gates of a body: sums of products, before their activations.
Gates = Callable[[GraphBuilder, str, str], Sequence[str]]
RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])


def split(g: GraphBuilder, z: str) -> list[str]:
    g.node("Split", "gates", integer(g, "one", 1), z, num_split=AttrValue(i=4))
    return [f"gates:output:{i}" for i in range(4)]


def one_product(g: GraphBuilder, x: str, h: str) -> Sequence[str]:
    """Keras's: gates in the order input, forget, cell, output."""
    products = [
        g.node("MatMul", "xk", x, g.constant("k", KERNEL)),
        g.node("MatMul", "hr", h, g.constant("r", RECURRENT)),
    ]
    total = g.node("AddV2", "sum", *products)
    return split(g, g.node("BiasAdd", "z", total, g.constant("b", BIAS)))


def joined_rows(g: GraphBuilder, x: str, h: str) -> Sequence[str]:
    """TensorFlow 1's: x and h beside each other, gates in the order input, cell, forget, output."""
    rows = g.node("ConcatV2", "both", x, h, integer(g, "axis", 1), N=AttrValue(i=2))
    product = g.node("MatMul", "product", rows, g.constant("w", np.concatenate([KERNEL, RECURRENT])))
    i, c, f, o = split(g, g.node("BiasAdd", "z", product, g.constant("b", BIAS)))
    f = g.node("AddV2", "more", f, g.constant("bias", np.float32(1)))
    return i, f, c, o


def own_products(g: GraphBuilder, x: str, h: str) -> Sequence[str]:
    """One product for each gate."""
    gates = []
    for n in range(4):
        part = slice(n * UNITS, (n + 1) * UNITS)
        xk = g.node("MatMul", f"xk{n}", x, g.constant(f"k{n}", KERNEL[:, part]))
        hr = g.node("MatMul", f"hr{n}", h, g.constant(f"r{n}", RECURRENT[:, part]))
        gates.append(g.node("AddV2", f"z{n}", xk, hr))
    return gates


def cell_seen(g: GraphBuilder, x: str, h: str) -> Sequence[str]:
    """A gate sees the cell state."""
    i, f, c, o = one_product(g, x, h)
    return g.node("AddV2", "peephole", i, "c"), f, c, o


def rows_or_state(g: GraphBuilder, x: str, h: str) -> Sequence[str]:
    """Two gates see x alone, and two the hidden state: one row of x would do for the whole batch."""
    gates = []
    for n, (source, weights) in enumerate([(x, KERNEL), (h, RECURRENT), (h, RECURRENT), (x, KERNEL)]):
        part = g.constant(f"w{n}", weights[:, n * UNITS : (n + 1) * UNITS])
        gates.append(g.node("MatMul", f"z{n}", source, part))
    return gates


def lstm_loop(
    gates: Gates = one_product,
    limit: int = TIME,
    output: str = "Tanh",
    first: int = 0,
    gives: str = "list",
    x_shape: Sequence[int] = (TIME, BATCH, DEPTH),
    row: Sequence[int] = (BATCH, UNITS),
    list_row: Sequence[int] | None = None,
    counter: int = INT,
) -> GraphBuilder:
    """y is the list of outputs, the last one, the count or the cell state, of steps of x.

    Outputs are put into the list in the shape of a row, and "last" is the last one in that shape.
    """
    g = GraphBuilder()
    g.placeholder("x", x_shape)
    g.placeholder("h0", [BATCH, UNITS])
    whole = [x_shape[0], *(list_row or row)]
    number = {INT: np.int32, LONG: np.int64}[counter]
    variables = {
        "i": (counter, g.constant("first", number(first))),
        "h": (FLOAT, "h0"),
        "c": (FLOAT, g.constant("zeros", np.zeros((BATCH, UNITS), np.float32))),
        "list": (FLOAT, g.constant("list", np.zeros(whole, np.float32))),
        "rows": (FLOAT, "x"),
        "last": (FLOAT, g.constant("before", np.full(row, 7, np.float32))),
    }

    def test(body: GraphBuilder) -> Sequence[str]:
        return [body.node("Less", "less", "i", body.constant("limit", number(limit)))]

    def step(body: GraphBuilder) -> Sequence[str]:
        x = body.node("GatherV2", "row", "rows", "i", integer(body, "zero", 0))
        i, f, candidate, o = gates(body, x, "h")
        kept = body.node("Mul", "kept", body.node("Sigmoid", "f", f), "c")
        added = body.node("Mul", "added", body.node("Sigmoid", "in", i), body.node("Tanh", "a", candidate))
        c = body.node("AddV2", "c1", added, kept)
        h = body.node("Mul", "h1", body.node(output, "seen", c), body.node("Sigmoid", "o", o))
        zero = integer(body, "none", 0)
        at = body.node("Cast", "at", "i", SrcT=AttrValue(type=counter), DstT=AttrValue(type=INT))
        size = AttrValue(i=len(whole))
        place = body.node("Pack", "place", at, *[zero] * len(row), N=size, axis=AttrValue(i=0))
        last = body.node("Reshape", "in_row", h, body.constant("row_shape", np.array(row, np.int32)))
        item = body.node("ExpandDims", "item", last, integer(body, "front", 0))
        put = body.node("XlaDynamicUpdateSlice", "put", "list", item, place)
        return [body.node("AddV2", "next", "i", body.constant("step", number(1))), h, c, put, "rows", last]

    loop(g, variables, test, step)
    g.node("Identity", "y", f"loop:{list(variables).index(gives)}")
    return g


# By the form of the gates: their order in the weights, and the bias.
ORDERS = {
    one_product: ("ifgo", BIAS),
    joined_rows: ("igfo", BIAS + np.repeat(np.float32([0, 0, 1, 0]), UNITS)),
    own_products: ("ifgo", np.float32(0)),
}


def outputs(x: np.ndarray, h: np.ndarray, gates: Gates) -> np.ndarray:
    c, given = np.zeros_like(h), []
    order, bias = ORDERS[gates]
    for row in x:
        z = dict(zip(order, np.split(row @ KERNEL + h @ RECURRENT + bias, 4, axis=1), strict=True))
        i, f, o = (1 / (1 + np.exp(-z[gate])) for gate in "ifo")
        c = f * c + i * np.tanh(z["g"])
        h = o * np.tanh(c)
        given.append(h)
    return np.stack(given)


@RUNTIMES
@pytest.mark.parametrize("gives", ["list", "h"])
@pytest.mark.parametrize("gates", ORDERS)
def test_weights_are_read_from_any_order_of_products(run, gates: Gates, gives: str) -> None:
    model = checked(convert_graph(lstm_loop(gates, gives=gives).graph_def, ["x", "h0"], ["y"]))
    made = ["PACK", "UNPACK", "UNIDIRECTIONAL_SEQUENCE_LSTM"]
    assert operators(model) == [*made, *(["STRIDED_SLICE"] if gives == "h" else [])]
    x, h = (
        RANDOM.standard_normal(size).astype(np.float32) for size in ((TIME, BATCH, DEPTH), (BATCH, UNITS))
    )
    expected = outputs(x, h, gates)
    np.testing.assert_allclose(
        run(model, x, h)[0], expected[-1] if gives == "h" else expected, rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    "graph",
    [
        lstm_loop(cell_seen),
        lstm_loop(limit=TIME - 1),
        lstm_loop(first=1),
        lstm_loop(output="Softsign"),
        lstm_loop(gives="c"),
        lstm_loop(rows_or_state, x_shape=(TIME, 1, DEPTH)),
        lstm_loop(list_row=(BATCH + 1, UNITS)),
    ],
    ids=[
        *("peephole", "fewer turns", "later start", "other activation", "cell state is read"),
        *("one row of x for all", "larger list"),
    ],
)
def test_what_is_no_lstm_stays_a_loop(graph: GraphBuilder) -> None:
    assert operators(convert_graph(graph.graph_def, ["x", "h0"], ["y"])) == ["WHILE"]


@RUNTIMES
@pytest.mark.parametrize("row", [(BATCH, 1, UNITS), (1, BATCH, UNITS), (BATCH * UNITS,), (UNITS, BATCH)])
@pytest.mark.parametrize("gives", ["list", "last"])
def test_outputs_keep_the_shape_in_which_the_loop_gives_them(run, gives: str, row: Sequence[int]) -> None:
    model = checked(convert_graph(lstm_loop(gives=gives, row=row).graph_def, ["x", "h0"], ["y"]))
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM" in operators(model)
    x, h = (
        RANDOM.standard_normal(size).astype(np.float32) for size in ((TIME, BATCH, DEPTH), (BATCH, UNITS))
    )
    expected = outputs(x, h, one_product)
    expected = expected[-1].reshape(row) if gives == "last" else expected.reshape(TIME, *row)
    [found] = run(model, x, h)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@RUNTIMES
def test_counts_keep_their_type(run) -> None:
    g = lstm_loop(gives="i", counter=LONG)
    g.node("Identity", "last", "loop:1")
    model = checked(convert_graph(g.graph_def, ["x", "h0"], ["y", "last"]))
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM" in operators(model)
    x, h = np.ones((TIME, BATCH, DEPTH), np.float32), np.ones((BATCH, UNITS), np.float32)
    count, last = run(model, x, h)
    assert (count.dtype, count.shape, count) == (np.int64, (), TIME)
    np.testing.assert_allclose(last, outputs(x, h, one_product)[-1], rtol=1e-5, atol=1e-6)


def test_of_no_steps_the_loops_first_state_is_left() -> None:
    g = lstm_loop(limit=0, gives="h", x_shape=(0, BATCH, DEPTH))
    h = RANDOM.standard_normal((BATCH, UNITS)).astype(np.float32)
    model = checked(convert_graph(g.graph_def, ["x", "h0"], ["y"]))
    np.testing.assert_array_equal(run_numlite(model, np.zeros((0, BATCH, DEPTH), np.float32), h)[0], h)


@RUNTIMES
def test_both_directions_of_a_keras_network_with_open_length(run) -> None:
    """CRNN, a net of Keras 3, with a batch of 2: what TensorFlow computed, and at other lengths our NumPy."""
    case = CASES["crnn"]
    graph, [name] = unpacked(case["graph"]), case["inputs"]
    model = checked(convert_graph(graph, [name], case["outputs"], {name: [2, None, 8, 1]}))
    assert operators(model).count("UNIDIRECTIONAL_SEQUENCE_LSTM") == 2
    assert not {"WHILE", "TRANSPOSE"} & set(operators(model))
    recorded = next(run for run in case["runs"] if run[0][0]["shape"][0] == 2)
    np.testing.assert_allclose(
        run(model, array(recorded[0][0]))[0], array(recorded[1][0]), rtol=1e-5, atol=1e-6
    )
    for length in (1, 9):
        x = RANDOM.standard_normal((2, length, 8, 1)).astype(np.float32)
        [expected] = run_graph(graph, {name: x}, case["outputs"])
        np.testing.assert_allclose(run(model, x)[0], expected, rtol=1e-5, atol=1e-6)
