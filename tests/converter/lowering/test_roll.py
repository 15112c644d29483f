"""Roll along axes whose sizes are known only when the model runs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.schema.graph_def import AttrValue

from ..graphs import checked, operators, run_litert, run_numlite

FLOAT, INT = AttrValue(type=1), AttrValue(type=3)


@pytest.mark.parametrize("run", [run_litert, run_numlite])
@pytest.mark.parametrize(("shifts", "axes"), [([2], [1]), ([-1, 5], [0, 1]), ([-7], [-1])])
def test_open_axes(run: Callable[..., list[np.ndarray]], shifts: list[int], axes: list[int]) -> None:
    g = GraphBuilder()
    by, at = (g.constant(n, np.array(v, np.int32)) for n, v in (("by", shifts), ("at", axes)))
    g.node("Roll", "y", g.placeholder("x", [-1, -1, 3]), by, at, T=FLOAT, Tshift=INT, Taxis=INT)
    model = checked(convert_graph(g.graph_def, ["x"], ["y"]))
    assert "CONCATENATION" not in operators(model) or axes == [-1]
    for shape in ((2, 5, 3), (1, 1, 3), (4, 3, 3)):
        x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
        [y] = run(model, x)
        np.testing.assert_array_equal(y, np.roll(x, shifts, axes))
