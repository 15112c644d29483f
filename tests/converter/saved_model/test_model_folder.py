"""Frozen models read their own assets and variables, and no file beside them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numlite.converter import Converter, load_saved_model, run_graph
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.saved_model import MetaGraphDef

from .saved_models import (
    STRING,
    TENSORS,
    add,
    linear,
    loaded,
    new_model,
    signature,
    table_model,
    write_model,
)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"a,x\n", "must be numbers"), (b"a\n", "line 0 has 1 columns"), (None, "cannot be read")],
)
def test_damaged_assets(tmp_path: Path, content: bytes | None, message: str) -> None:
    (tmp_path / "assets").mkdir()
    if content is not None:
        (tmp_path / "assets" / "words.txt").write_bytes(content)
    with pytest.raises(ModelError, match=message):
        loaded(tmp_path, table_model("words.txt")).freeze()


@pytest.mark.parametrize("name", ["../words.txt", "/etc/passwd", "a/../../b", "", "..\\x", "c:x", "a\0b"])
def test_assets_outside_the_model(tmp_path: Path, name: str) -> None:
    model = loaded(tmp_path, table_model(name))
    with pytest.raises(ModelError, match="assets folder"):
        model.freeze()


def table_of_file(path: str) -> MetaGraphDef:
    """A model whose table is filled from a file that a constant names, instead of from an asset."""
    meta_graph = table_model("words.txt")
    del meta_graph.asset_file_def[:]
    graph = meta_graph.graph_def
    (old,) = (node for node in graph.node if node.name == "path")
    old.op = "Const"
    old.attr["value"].tensor.dtype = STRING.number
    old.attr["value"].tensor.tensor_shape.SetInParent()
    old.attr["value"].tensor.string_val.append(path.encode())
    return meta_graph


def linked_asset(folder: Path, secret: Path) -> MetaGraphDef:
    (folder / "assets" / "words.txt").symlink_to(secret)
    return table_model("words.txt")


def linked_assets(folder: Path, secret: Path) -> MetaGraphDef:
    (folder / "assets").rmdir()
    (folder / "assets").symlink_to(secret.parent)
    return table_model(secret.name)


OUTSIDE: dict[str, Callable[[Path, Path], MetaGraphDef]] = {
    "constant": lambda folder, secret: table_of_file(str(secret)),
    "constant with ..": lambda folder, secret: table_of_file(f"{folder}/assets/../../{secret.name}"),
    "another file of the model": lambda folder, secret: table_of_file(str(folder / "saved_model.pb")),
    "a folder that begins alike": lambda folder, secret: table_of_file(f"{folder}/assets.old/words.txt"),
    "link": linked_asset,
    "assets is a link": linked_assets,
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_files_that_are_no_assets_of_the_model(tmp_path: Path, case: str) -> None:
    folder, secret = tmp_path / "model", tmp_path / "secret.txt"
    secret.write_bytes(b"a,1\n")
    (folder / "assets").mkdir(parents=True)
    model = loaded(folder, OUTSIDE[case](folder, secret))
    with pytest.raises(UnsupportedError, match=r"node 'fill' .*may read files of .*allow_files=True"):
        model.freeze()
    with pytest.raises(UnsupportedError, match="allow_files=True"):
        Converter.from_saved_model(folder)
    with pytest.raises(UnsupportedError, match="allow_files=True"):
        run_graph(folder, {"k": np.array([b"a"], object)}, ["v"])
    if case not in ("another file of the model", "a folder that begins alike"):
        (found,) = run_graph(folder, {"k": np.array([b"a", b"b"], object)}, ["v"], allow_files=True)
        assert found.tolist() == [1, -1]
        assert Converter.from_saved_model(folder, allow_files=True).entries


def test_graphs_of_a_model_read_its_assets_and_nothing_else(tmp_path: Path) -> None:
    folder, secret = tmp_path / "model", tmp_path / "secret.txt"
    (folder / "assets").mkdir(parents=True)
    for path in (secret, folder / "assets" / "words.txt"):
        path.write_bytes(b"content")
    meta_graph, graph = new_model()
    add(graph, "Placeholder", "path", dtype=STRING)
    add(graph, "ReadFile", "read", "path")
    add(graph, "WriteFile", "write", "path", "path")
    add(graph, "Identity", "written", "path", "^write", T=STRING)
    signature(meta_graph, "run", {"path": "path:0"}, {"read": "read:0", "written": "written:0"})
    loaded(folder, meta_graph)

    def ran(path: Path, result: str) -> bytes:
        (found,) = run_graph(folder, {"path": np.array(str(path).encode(), object)}, [result])
        content: bytes = np.asarray(found, object).item()
        return content

    assert ran(folder / "assets" / "words.txt", "read") == b"content"
    for path, result in ((secret, "read"), (folder / "assets" / "words.txt", "written")):
        with pytest.raises(UnsupportedError, match="allow_files=True"):
            ran(path, result)


def test_variables_that_are_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    write_model(folder, linear(), tensors=TENSORS)
    shard = next((folder / "variables").glob("variables.data*"))
    shard.rename(tmp_path / "elsewhere")
    shard.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsupportedError, match=r"variables must lie .*allow_files=True"):
        load_saved_model(folder).freeze()
    assert load_saved_model(folder, allow_files=True).freeze().module.graph


def test_a_pipe_is_no_asset(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    os.mkfifo(tmp_path / "assets" / "words.txt")
    with pytest.raises(ModelError, match="not a plain file"):
        loaded(tmp_path, table_model("words.txt")).freeze()


def test_a_model_that_is_reached_through_a_link_reads_its_assets(tmp_path: Path) -> None:
    model = tmp_path / "model"
    (model / "assets").mkdir(parents=True)
    (model / "assets" / "words.txt").write_bytes(b"a,1\n")
    loaded(model, table_model("words.txt"))
    (tmp_path / "latest").symlink_to("model")
    assert load_saved_model(tmp_path / "latest").freeze().initializers == ("fill",)
