"""How a difference between a model and its graph is told, and that state lasts on both sides."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numlite.cli.conversion_check import Difference, _difference, _largest, differences
from numlite.converter import Converter
from numlite.converter.graph_builder import GraphBuilder

from ..converter.saved_model.saved_models import FLOAT, add, new_model, signature, variable, write_model

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("ours", "theirs", "told"),
    [
        ([1.0, 2.0], [1.0, 2.5], "differs by 0.5 at most, values up to 2.5"),
        ([1.0, NAN, INF], [1.0, NAN, INF], "differs by 0 at most, values up to inf"),
        ([1.0, NAN], [1.0, 2.0], "DIFFERS in a shape, a string, or where values are not finite"),
        ([1.0, INF], [1.0, 2.0], "DIFFERS in a shape, a string, or where values are not finite"),
        ([1.0], [1.0, 2.0], "DIFFERS in a shape, a string, or where values are not finite"),
        ([1 + 1j], [1 - 1j], "differs by 2 at most, values up to 1.41"),
        ([b"a"], [b"a"], "equal strings"),
        ([b"a"], [b"b"], "DIFFERS in a shape, a string, or where values are not finite"),
        ([], [], "differs by 0 at most, values up to 0"),
    ],
)
def test_what_is_told(ours: list, theirs: list, told: str) -> None:
    a, b = (np.array(x, object if x and isinstance(x[0], bytes) else None) for x in (ours, theirs))
    assert str(Difference("key", "y", _difference(a, b), _largest(b))) == f"key y: {told}"


def test_a_model_of_another_graph(tmp_path: Path) -> None:
    made = []
    for op in ("Sin", "Cos"):
        g = GraphBuilder()
        g.node(op, "y", g.placeholder("x", [64]))
        made.append(Converter.from_graph_def(g.graph_def))
    path = tmp_path / "sine.tflite"
    path.write_bytes(made[0].convert())
    [same] = differences(path, made[0].entries, 2)
    [other] = differences(path, made[1].entries, 2)
    assert same.largest < 1e-6 and other.largest > 0.5


def test_state_lasts_over_the_runs_of_both_sides(tmp_path: Path) -> None:
    meta_graph, graph = new_model()
    variable(graph, "v")
    add(graph, "Placeholder", "d", dtype=FLOAT)
    add(graph, "AssignAddVariableOp", "assign", "v", "d", dtype=FLOAT)
    add(graph, "ReadVariableOp", "read", "v", "^assign", dtype=FLOAT)
    signature(meta_graph, "count", {"d": "d:0"}, {"v": "read:0"})
    folder = write_model(tmp_path / "saved", meta_graph, tensors={"v": np.float32(5)})
    converter = Converter.from_saved_model(folder, input_shapes={"d": []})
    path = tmp_path / "count.tflite"
    path.write_bytes(converter.convert())
    [difference] = differences(path, converter.entries, 4)
    assert difference.largest < 1e-5 and difference.scale > 5
