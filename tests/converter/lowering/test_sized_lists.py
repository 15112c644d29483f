"""Lists of elements whose sizes only a run tells: zeros of these sizes, or elements chosen one by one."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.interpreter import Interpreter
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import AttrValue

from ..graphs import checked, run_litert, run_numlite
from .test_led_list import ELEMENTS, FLOAT, INT, VARIANT, a_step, codes, loop, number

RUNTIMES = pytest.mark.parametrize("run", [run_litert, run_numlite])


def graph(step: GraphBuilder, shape: list[int]) -> GraphBuilder:
    """z is the stack of what n turns put into a list of n elements of unknown shape."""
    g = GraphBuilder()
    n, x = g.placeholder("n", [], INT), g.placeholder("x", shape)
    held = g.node("TensorListReserve", "list", g.constant("any", number(-1)), n, element_dtype=ELEMENTS)
    loop(g, "fill", n, held, x, step, VARIANT)
    g.node("TensorListStack", "z", "fill:2", g.constant("sizes", number(-1)), element_dtype=ELEMENTS)
    return g


def putting(op: str = "Square") -> GraphBuilder:
    """Puts f(x) into the list, and doubles x."""
    step = a_step(VARIANT)
    if op == "Tile":
        places = step.node("ExpandDims", "times", "n", step.constant("axis", number(0)))
        item = step.node("Tile", "item", "x", places)
    else:
        item = step.node(op, "item", "x")
    step.node("TensorListSetItem", "held", "l", "i", item, element_dtype=ELEMENTS)
    step.node("AddV2", "y", "x", "x")
    return step


@RUNTIMES
@pytest.mark.parametrize(("n", "size"), [(3, 2), (1, 5), (4, 1), (2, 3)])
def test_sizes_of_loop_variables_are_those_of_elements(run, n: int, size: int) -> None:
    model = checked(convert_graph(graph(putting(), [-1]).graph_def, ["n", "x"], ["z"]))
    assert codes(model, 2)["DYNAMIC_UPDATE_SLICE"] == 1
    x = np.arange(1, size + 1, dtype=np.float32)
    np.testing.assert_array_equal(run(model, number(n), x)[0], [(x * 2**k) ** 2 for k in range(n)])


@RUNTIMES
@pytest.mark.parametrize("n", [1, 3, 2])
def test_elements_of_sizes_from_nowhere_are_chosen(run, n: int) -> None:
    model = checked(convert_graph(graph(putting("Tile"), [2]).graph_def, ["n", "x"], ["z"]))
    assert codes(model, 2)["SELECT_V2"] == codes(model, 2)["RANGE"] == 1
    x = np.float32([1, -2])
    np.testing.assert_array_equal(run(model, number(n), x)[0], [np.tile(x * 2**k, n) for k in range(n)])


def counted_by_rows() -> bytes:
    """z is the stack of as many elements of two as r has rows."""
    g = GraphBuilder()
    rows, x = g.placeholder("r", [-1, 3]), g.placeholder("x", [2])
    zero = g.constant("zero", number(0))
    n = g.node("GatherV2", "n", g.node("Shape", "sizes_of_r", rows), zero, zero)
    size = g.constant("two", np.array([2], np.int32))
    held = g.node("TensorListReserve", "list", size, n, element_dtype=ELEMENTS)
    loop(g, "fill", n, held, x, putting(), VARIANT)
    g.node("TensorListStack", "z", "fill:2", size, element_dtype=ELEMENTS)
    return checked(convert_graph(g.graph_def, ["r", "x"], ["z"]))


def test_a_loop_over_nothing_fills_no_list() -> None:
    """Not in LiteRT, which prepares the body, whose element a list of nothing has no place for."""
    interpreter = Interpreter(model_content=counted_by_rows())
    signature = interpreter.get_signature_runner()
    x = np.float32([1, -2])
    for n in (0, 2, 0, 3):
        [z] = signature(r=np.zeros((n, 3), np.float32), x=x).values()
        assert z.shape == (n, 2)
        np.testing.assert_array_equal(z, [(x * 2**k) ** 2 for k in range(n)] or np.zeros((0, 2)))


@RUNTIMES
def test_a_variable_that_grows_tells_no_sizes(run) -> None:
    """Its size at the start is not that of later turns."""
    step = a_step(VARIANT)
    halves = step.node("Reshape", "twice", "x", step.constant("all", np.array([-1], np.int32)))
    step.node("ConcatV2", "y", "x", halves, step.constant("zero", number(0)))
    item = step.node(
        "Max", "item", "x", step.constant("axes", np.array([0], np.int32)), T=AttrValue(type=FLOAT)
    )
    step.node("TensorListSetItem", "held", "l", "i", item, element_dtype=ELEMENTS)
    model = checked(convert_graph(graph(step, [-1]).graph_def, ["n", "x"], ["z"]))
    x = np.float32([1, 3])
    np.testing.assert_array_equal(run(model, number(3), x)[0], [3, 3, 3])


@RUNTIMES
@pytest.mark.parametrize(("n", "size"), [(3, 2), (1, 4)])
def test_an_element_that_is_put_in_before_the_loop(run, n: int, size: int) -> None:
    """The list is as long as it was reserved: no tensor is what the first element is put into."""
    g = GraphBuilder()
    count, x = g.placeholder("n", [], INT), g.placeholder("x", [-1])
    held = g.node("TensorListReserve", "list", g.constant("any", number(-1)), count, element_dtype=ELEMENTS)
    g.node("TensorListSetItem", "one", held, g.constant("first", number(0)), x, element_dtype=ELEMENTS)
    g.node("TensorListStack", "z", "one", g.constant("sizes", number(-1)), element_dtype=ELEMENTS)
    g.node("TensorListLength", "length", held)
    model = checked(convert_graph(g.graph_def, ["n", "x"], ["z", "length"]))
    row = np.arange(1, size + 1, dtype=np.float32)
    z, length = run(model, number(n), row)
    np.testing.assert_array_equal(z, [row, *np.zeros((n - 1, size))])
    assert length == n


def test_reading_what_nothing_told_the_shape_of_is_refused() -> None:
    g = GraphBuilder()
    count = g.placeholder("n", [], INT)
    held = g.node("TensorListReserve", "list", g.constant("any", number(-1)), count, element_dtype=ELEMENTS)
    inputs = [held, g.constant("first", number(0)), g.constant("sizes", number(-1))]
    g.node("TensorListGetItem", "z", *inputs, element_dtype=ELEMENTS)
    with pytest.raises(UnsupportedError, match="the shape of the list's elements must be known"):
        convert_graph(g.graph_def, ["n"], ["z"])
