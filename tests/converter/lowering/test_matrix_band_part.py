"""MatrixBandPart whose widths are given while running."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder

from ..graphs import checked, operators, run_litert, run_numlite

X = np.arange(1, 25, dtype=np.float32).reshape(2, 3, 4)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_widths_that_are_given(dtype: type, run) -> None:
    g = GraphBuilder()
    widths = [g.placeholder(name, [], {np.int32: 3, np.int64: 9}[dtype]) for name in ("lower", "upper")]
    g.node("MatrixBandPart", "y", g.placeholder("x", [2, 3, 4], 1), *widths)
    model = checked(convert_graph(g.graph_def, ["x", *widths], ["y"]))
    assert operators(model)[-1] == "SELECT_V2"
    for lower, upper in ((1, 0), (-1, 1), (0, -1), (-3, -1), (9, 0)):
        [y] = run(model, X, *(np.array(width, dtype) for width in (lower, upper)))
        expected = np.tril(X, 9 if upper < 0 else upper)
        np.testing.assert_array_equal(y, np.triu(expected, -9 if lower < 0 else -lower))


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_one_width_that_is_given(run) -> None:
    g = GraphBuilder()
    upper = g.placeholder("upper", [], 3)
    lower = g.constant("lower", np.array(1, np.int32))
    g.node("MatrixBandPart", "y", g.placeholder("x", [2, 3, 4], 1), lower, upper)
    model = checked(convert_graph(g.graph_def, ["x", upper], ["y"]))
    [y] = run(model, X, np.array(-1, np.int32))
    np.testing.assert_array_equal(y, np.triu(X, -1))


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize(("dtype", "number"), [(np.int32, 3), (np.int64, 9)])
def test_widths_and_sizes_that_are_given(dtype: type, number: int, run) -> None:
    g = GraphBuilder()
    lower = g.placeholder("lower", [], number)
    upper = g.constant("upper", np.array(1, dtype))
    g.node("MatrixBandPart", "y", g.placeholder("x", [2, 3, -1], 6), lower, upper)
    model = checked(convert_graph(g.graph_def, ["x", lower], ["y"]))
    for x in (X, np.concatenate([X, X], 2)):
        [y] = run(model, x.astype(np.int8), np.array(1, dtype))
        np.testing.assert_array_equal(y, np.triu(np.tril(x.astype(np.int8), 1), -1))
        [y] = run(model, x.astype(np.int8), np.array(-1, dtype))
        np.testing.assert_array_equal(y, np.tril(x.astype(np.int8), 1))
