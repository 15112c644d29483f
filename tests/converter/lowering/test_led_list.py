"""Lists that a loop finds empty: LiteRT runs what is made of them, as numlite does."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema import tflite
from numlite.schema.graph_def import AttrValue
from numlite.schema.operator_code import builtin_code

from ..functions import add_function, types
from ..graphs import checked, run_litert, run_numlite

FLOAT, INT, BOOL, VARIANT = 1, 3, 10, 21
RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])
ELEMENTS = AttrValue(type=FLOAT)


def number(value: int) -> np.ndarray:
    return np.array(value, np.int32)


def loop(g: GraphBuilder, name: str, limit: str, held: str, x: str, step: GraphBuilder, kind: int) -> None:
    """A loop of `limit` turns over (turn, limit, list or tensor, x); the step gives "held" and "y"."""
    variables = types(INT, INT, kind, FLOAT)
    cond = GraphBuilder()
    turn, most = cond.placeholder("i", None, INT), cond.placeholder("n", None, INT)
    for other, data_type in (("l", kind), ("x", FLOAT)):
        cond.placeholder(other, None, data_type)
    cond.node("Less", "less", turn, most)
    step.node("AddV2", "next", "i", step.constant("one", number(1)))
    functions = {
        "cond": add_function(g, f"{name}_test", cond, ["less"], BOOL),
        "body": add_function(g, f"{name}_step", step, ["next", "n", "held", "y"]),
    }
    outputs = g.graph_def.library.function[-1].signature.output_arg
    for argument, data_type in zip(outputs, (INT, INT, kind, FLOAT), strict=True):
        argument.type = data_type
    start = g.constant(f"{name}/start", number(0))
    g.node("StatelessWhile", name, start, limit, held, x, T=variables, **functions)


def a_step(kind: int) -> GraphBuilder:
    step = GraphBuilder()
    for name, data_type in (("i", INT), ("n", INT), ("l", kind), ("x", FLOAT)):
        step.placeholder(name, None, data_type)
    return step


def pushing(reads: bool = False) -> GraphBuilder:
    """Puts x behind the list, then doubles it; or adds the list's length to it."""
    step = a_step(VARIANT)
    step.node("TensorListPushBack", "held", "l", "x", element_dtype=ELEMENTS)
    if reads:
        length = step.node("TensorListLength", "length", "l")
        real = step.node("Cast", "real", length, SrcT=AttrValue(type=INT), DstT=AttrValue(type=FLOAT))
        step.node("AddV2", "y", "x", real)
    else:
        step.node("AddV2", "y", "x", "x")
    return step


def popping() -> GraphBuilder:
    """Takes the last element off the list and adds its square to x."""
    step = a_step(VARIANT)
    sizes = step.constant("sizes", np.array([2], np.int32))
    step.node("TensorListPopBack", "popped", "l", sizes, element_dtype=ELEMENTS)
    step.node("Identity", "held", "popped", T=AttrValue(type=VARIANT))
    squared = step.node("Square", "squared", "popped:1")
    step.node("AddV2", "y", "x", squared)
    return step


def graph(second: bool, reads: bool = False) -> GraphBuilder:
    """n turns put elements into an empty list; n more take them off again, or the list is given."""
    g = GraphBuilder()
    n, x = g.placeholder("n", [], INT), g.placeholder("x", [2])
    sizes, most = g.constant("sizes", np.array([2], np.int32)), g.constant("most", number(-1))
    empty = g.node("EmptyTensorList", "empty", sizes, most, element_dtype=ELEMENTS)
    loop(g, "push", n, empty, x, pushing(reads), VARIANT)
    g.node("Identity", "y", "push:3")
    if second:
        loop(g, "pop", n, "push:2", "push:3", popping(), VARIANT)
        g.node("Identity", "z", "pop:3")
    else:
        g.node("TensorListStack", "z", "push:2", sizes, element_dtype=ELEMENTS)
    return g


def codes(model: bytes, subgraph: int) -> Counter[str]:
    read = tflite.read(model)
    names = [tflite.BuiltinOperator(builtin_code(code)).name for code in read.operator_codes]
    return Counter(names[operator.opcode_index] for operator in read.subgraphs[subgraph].operators)


@RUNTIMES
@pytest.mark.parametrize("reads", [False, True])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_lists_that_grow(run, n: int, reads: bool) -> None:
    x = np.float32([1, -2])
    model = checked(convert_graph(graph(False, reads).graph_def, ["n", "x"], ["y", "z"]))
    y, z = run(model, number(n), x)
    rows = []
    for turn in range(n):
        rows.append(x)
        x = x + turn if reads else x * 2
    np.testing.assert_array_equal(y, x)
    np.testing.assert_array_equal(z, np.reshape(np.float32(rows), (n, 2)))


@RUNTIMES
@pytest.mark.parametrize("n", [0, 1, 3])
def test_lists_that_shrink(run, n: int) -> None:
    x = np.float32([1, -2])
    model = checked(convert_graph(graph(True).graph_def, ["n", "x"], ["y", "z"]))
    y, z = run(model, number(n), x)
    np.testing.assert_array_equal(y, x * 2**n)
    np.testing.assert_array_equal(z, x * 2**n + sum((x * 2**k) ** 2 for k in range(n)))


def test_leading_elements_cost_no_turn_anything() -> None:
    model = checked(convert_graph(graph(True).graph_def, ["n", "x"], ["y", "z"]))
    assert codes(model, 0) == {"WHILE": 2}
    assert codes(model, 2)["CONCATENATION"] == codes(model, 4)["STRIDED_SLICE"] == 1
    assert "STRIDED_SLICE" not in codes(model, 2) and "CONCATENATION" not in codes(model, 4)


@RUNTIMES
@pytest.mark.parametrize("n", [0, 2])
def test_tensors_that_grow_from_nothing(run, n: int) -> None:
    """What a program writes without lists."""
    g = GraphBuilder()
    limit, x = g.placeholder("n", [], INT), g.placeholder("x", [2])
    step = a_step(FLOAT)
    row = step.node("ExpandDims", "row", "x", step.constant("axis", number(0)))
    step.node("ConcatV2", "held", row, "l", step.constant("first", number(0)))
    step.node("AddV2", "y", "x", "x")
    loop(g, "loop", limit, g.constant("none", np.zeros((0, 2), np.float32)), x, step, FLOAT)
    g.node("Identity", "z", "loop:2")
    model = checked(convert_graph(g.graph_def, ["n", "x"], ["z"]))
    [z] = run(model, number(n), np.float32([1, -2]))
    expected = [np.float32([1, -2]) * 2**k for k in reversed(range(n))]
    np.testing.assert_array_equal(z, np.reshape(np.float32(expected), (n, 2)))
