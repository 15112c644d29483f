"""SavedModels as what run_graph takes: by folder, read, and frozen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numlite.converter import GraphRunner, load_saved_model, run_graph
from numlite.lite.errors import ModelError

from ..saved_model.saved_models import FLOAT, add, new_model, signature, variable, write_model

X = np.float32([1, 2])


def counting_model(path: Path) -> Path:
    """total: a variable, 10 in the checkpoint, to which each run adds x; y: x, by another signature."""
    meta_graph, graph = new_model()
    add(graph, "Placeholder", "x_node", dtype=FLOAT)
    variable(graph, "v", 2)
    add(graph, "AssignAddVariableOp", "add", "v", "x_node", dtype=FLOAT)
    add(graph, "ReadVariableOp", "read", "v", "^add", dtype=FLOAT)
    add(graph, "Identity", "same", "x_node", T=FLOAT)
    signature(meta_graph, "count", {"x": "x_node:0"}, {"total": "read:0"})
    signature(meta_graph, "pass", {"x": "x_node:0"}, {"y": "same:0"})
    return write_model(path, meta_graph, tensors={"v": np.float32([10, 10])})


@pytest.mark.parametrize("form", ["folder", "text", "model", "frozen"])
def test_names_are_the_signatures(form: str, tmp_path: Path) -> None:
    path = counting_model(tmp_path)
    model = load_saved_model(path)
    if form == "frozen":
        found = run_graph(model.freeze("count"), {"x": X}, ["total"])
    else:
        source = {"folder": path, "text": str(path), "model": model}[form]
        found = run_graph(source, {"x": X}, ["total"], "count")
    np.testing.assert_array_equal(found[0], X + 10)


def test_a_runner_keeps_the_variables(tmp_path: Path) -> None:
    runner = GraphRunner(counting_model(tmp_path), signature="count")
    assert (list(runner.inputs), list(runner.outputs)) == (["x"], ["total"])
    found = [runner.run({"x": X}, ["total"])[0].tolist() for _ in range(3)]
    assert found == [[11, 12], [12, 14], [13, 16]]


def test_other_signatures_are_refused(tmp_path: Path) -> None:
    path = counting_model(tmp_path)
    with pytest.raises(ModelError, match="no signature 'gone'; there are: 'count', 'pass'"):
        run_graph(path, {}, [], "gone")
    with pytest.raises(ModelError, match="signatures are a SavedModel's"):
        run_graph(b"", {}, [], "count")
    with pytest.raises(ModelError, match="must be a GraphDef, its bytes, a path"):
        run_graph(3, {}, [])  # type: ignore[arg-type]


def test_one_tensor_is_fed_once(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="each must be of another tensor"):
        GraphRunner(counting_model(tmp_path), signature="pass").run({"x": X, "x_node": X}, ["y"])
