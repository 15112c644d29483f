"""Ops that change nothing become no operator, and so take types that their operators do not."""

from __future__ import annotations

import numpy as np
import pytest
from numlite.converter import convert_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.lite.errors import UnsupportedError

from ..graphs import checked, operators, run_numlite

BYTES = np.arange(6, dtype=np.uint8).reshape(2, 3)
DOUBLES = np.linspace(-1, 1, 6).reshape(2, 3)


@pytest.mark.parametrize("value", [(), (np.uint8(3),)], ids=["Pad", "PadV2"])
def test_pads_of_nothing(value: tuple[np.uint8, ...]) -> None:
    g = GraphBuilder()
    constants = [np.zeros((2, 2), np.int32), *map(np.asarray, value)]
    names = [g.constant(f"c{i}", array) for i, array in enumerate(constants)]
    g.node("PadV2" if value else "Pad", "y", g.placeholder("x", [2, 3], 4), *names)
    model = checked(convert_graph(g.graph_def, ["x"], ["y"]))
    assert operators(model) == []
    np.testing.assert_array_equal(run_numlite(model, BYTES)[0], BYTES)


@pytest.mark.parametrize("op", ["Select", "SelectV2"])
@pytest.mark.parametrize("whole", [True, False])
def test_choices_of_a_whole_operand(op: str, whole: bool) -> None:
    g = GraphBuilder()
    condition = g.constant("c", np.full((2, 3), whole))
    other = g.constant("other", -DOUBLES)
    x = g.placeholder("x", [2, 3], 2)
    g.node(op, "y", condition, *([x, other] if whole else [other, x]))
    model = checked(convert_graph(g.graph_def, ["x"], ["y"]))
    assert operators(model) == []
    np.testing.assert_array_equal(run_numlite(model, DOUBLES)[0], DOUBLES)


@pytest.mark.parametrize("shape", [(2, 3), (1, 3)], ids=str)
def test_choices_of_parts_or_of_what_stretches_stay(shape: tuple[int, ...]) -> None:
    g = GraphBuilder()
    condition = np.full(shape, True)
    condition[0, 0] = shape == (1, 3)
    x = g.placeholder("x", [2, 3], 2)
    g.node("SelectV2", "y", g.constant("c", condition), x, g.constant("other", -DOUBLES))
    with pytest.raises(UnsupportedError, match="does not take float64"):
        convert_graph(g.graph_def, ["x"], ["y"])
