"""Lists of tensors whose length is known, or told by a run."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import UnsupportedError
from numlite.schema.graph_def import AttrValue

from ..graphs import checked, operators, run_litert, run_numlite
from .operator_cases import IMAGE, TYPES, X, i32, one


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_the_only_element_of_a_list_is_the_list(run) -> None:
    g = GraphBuilder()
    count, shape = g.constant("count", one(1)), g.constant("shape", i32(3, 4))
    held = g.node("TensorListReserve", "held", shape, count, element_dtype=AttrValue(type=1))
    index = g.placeholder("index", [], TYPES[np.int32])
    held = g.node("TensorListSetItem", "set", held, index, g.placeholder("x", [3, 4]))
    g.node("TensorListStack", "y", held, shape, element_dtype=AttrValue(type=1))
    model = checked(convert_graph(g.graph_def, ["index", "x"], ["y"]))
    assert operators(model) == ["RESHAPE"]
    [y] = run(model, one(0), X)
    np.testing.assert_array_equal(y, X[None])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_the_last_element_of_a_list_is_taken_off(run) -> None:
    g = GraphBuilder()
    shape, float32 = g.constant("shape", i32(3, 4)), AttrValue(type=1)
    held = g.node("TensorListFromTensor", "held", g.placeholder("x", [-1, 3, 4]), shape)
    held = g.node("TensorListPopBack", "popped", held, shape, element_dtype=float32)
    g.node("Identity", "last", f"{held}:1")
    g.node("TensorListStack", "rest", held, shape, element_dtype=float32)
    model = checked(convert_graph(g.graph_def, ["x"], ["last", "rest"]))
    for n in (3, 1):
        x = np.arange(n * 12, dtype=np.float32).reshape(n, 3, 4)
        last, rest = run(model, x)
        np.testing.assert_array_equal(last, x[-1])
        np.testing.assert_array_equal(rest, x[:-1])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_the_elements_of_a_list_end_to_end(run) -> None:
    g = GraphBuilder()
    shape = g.constant("shape", i32(4, 4, 8))
    held = g.node("TensorListFromTensor", "held", g.placeholder("x", IMAGE.shape), shape)
    leading = g.constant("leading", np.zeros(0, np.int64))
    float32 = AttrValue(type=1)
    joined = g.node("TensorListConcatV2", "joined", held, shape, leading, element_dtype=float32)
    g.node("Identity", "lengths", f"{joined}:1")
    model = checked(convert_graph(g.graph_def, ["x"], ["joined", "lengths"]))
    assert operators(model) == ["RESHAPE"]
    y, lengths = run(model, IMAGE)
    np.testing.assert_array_equal(y, IMAGE.reshape(8, 4, 8))
    np.testing.assert_array_equal(lengths, [4, 4])


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_lists_are_cut_or_filled_up_to_a_length(run, known: bool, size: int) -> None:
    g = GraphBuilder()
    shape, float32 = g.constant("shape", i32(2)), AttrValue(type=1)
    held = g.node("TensorListFromTensor", "held", g.placeholder("x", [3 if known else -1, 2]), shape)
    length = g.constant("size", one(size)) if known else g.placeholder("size", [], TYPES[np.int32])
    held = g.node("TensorListResize", "sized", held, length)
    g.node("TensorListStack", "y", held, shape, element_dtype=float32)
    model = checked(convert_graph(g.graph_def, ["x"] if known else ["x", "size"], ["y"]))
    x = np.arange(6, dtype=np.float32).reshape(3, 2)
    [y] = run(model, *([x] if known else [x, one(size)]))
    np.testing.assert_array_equal(y, np.concatenate([x, np.zeros((5, 2), np.float32)])[:size])


def test_growing_lists_of_elements_of_unknown_shape_are_refused() -> None:
    g = GraphBuilder()
    count, shape = g.constant("count", one(0)), g.constant("shape", i32(-1, 3))
    held = g.node("TensorListReserve", "held", shape, count, element_dtype=AttrValue(type=1))
    item = [g.constant("index", one(0)), g.placeholder("x", [-1, 3])]
    held = g.node("TensorListSetItem", "set", held, *item, resize_if_index_out_of_bounds=True)
    g.node("TensorListStack", "y", held, shape, element_dtype=AttrValue(type=1))
    with pytest.raises(UnsupportedError, match="the shape of a growing list's elements must be known"):
        convert_graph(g.graph_def, ["x"], ["y"])
