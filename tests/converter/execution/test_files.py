"""Files and checkpoints, for graphs that may touch them."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from numlite.converter import GraphRunner, run_graph
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.saved_model import load_checkpoint
from numlite.kernels.fallback.dtypes import data_type_of
from numlite.kernels.fallback.status import InvalidArgumentError, NotFoundError
from numlite.lite.errors import UnsupportedError
from numlite.schema import graph_def
from numlite.schema.graph_def import AttrValue

from .functions import types_attr

VALUES = {
    "f32": np.arange(12, dtype=np.float32).reshape(4, 3),
    "bf16": np.array([1.5, -2], ml_dtypes.bfloat16),
    "bool": np.array([[True], [False]]),
    "c64": np.array(1 + 2j, np.complex64),
    "empty": np.zeros((0, 2), np.int64),
    "words": np.array([[b"one", b""], [b"\xff" * 300, b"four"]], object),
}


def text(value: str | Path) -> np.ndarray:
    return np.array(str(value).encode(), object)


def texts(*values: str) -> np.ndarray:
    return np.array([value.encode() for value in values], object)


def saving_graph() -> GraphBuilder:
    """Saves VALUES under "prefix" and restores them all, or the "part" of "one" float tensor."""
    graph = GraphBuilder()
    graph.placeholder("prefix", [], graph_def.DT_STRING)
    types = types_attr(*(data_type_of(value.dtype) for value in VALUES.values()))
    names = graph.constant("names", texts(*VALUES))
    whole = graph.constant("whole", texts(*[""] * len(VALUES)))
    values = [graph.constant(f"value_{name}", value) for name, value in VALUES.items()]
    graph.node("SaveV2", "save", "prefix", names, whole, *values, dtypes=types)
    graph.node("RestoreV2", "restore", "prefix", names, whole, "^save", dtypes=types)
    graph.placeholder("one", [1], graph_def.DT_STRING)
    graph.placeholder("part", [1], graph_def.DT_STRING)
    graph.node("RestoreV2", "restore_one", "prefix", "one", "part", dtypes=types_attr(1))
    return graph


def test_what_is_saved_is_restored(tmp_path: Path) -> None:
    prefix = tmp_path / "new" / "model"
    runner = GraphRunner(saving_graph().graph_def, allow_files=True)
    found = runner.run({"prefix": text(prefix)}, [f"restore:{i}" for i in range(len(VALUES))])
    for value, wanted in zip(found, VALUES.values(), strict=True):
        assert value.dtype == wanted.dtype
        np.testing.assert_array_equal(value, wanted)
    assert set(load_checkpoint(prefix).tensors) == set(VALUES)
    feeds = {"prefix": text(prefix), "one": texts("f32"), "part": texts("4 3 1,2:-")}
    np.testing.assert_array_equal(runner.run(feeds, ["restore_one"])[0], VALUES["f32"][1:3])


@pytest.mark.parametrize(
    ("name", "part", "error", "message"),
    [
        ("gone", "", NotFoundError, "gone"),
        ("bool", "", InvalidArgumentError, "tensor 'bool' must be float, got bool"),
        ("f32", "5 3 0,1:-", InvalidArgumentError, r"shape must be \[5, 3\], got \[4, 3\]"),
        ("f32", "nonsense", NotFoundError, "nonsense"),
    ],
)
def test_what_cannot_be_restored(
    name: str, part: str, error: type[Exception], message: str, tmp_path: Path
) -> None:
    runner = GraphRunner(saving_graph().graph_def, allow_files=True)
    prefix = text(tmp_path / "model")
    runner.run({"prefix": prefix}, targets=["save"])
    with pytest.raises(error, match=message):
        runner.run({"prefix": prefix, "one": texts(name), "part": texts(part)}, ["restore_one"])
    with pytest.raises(NotFoundError, match="no checkpoint"):
        feeds = {"prefix": text(tmp_path / "other"), "one": texts("f32"), "part": texts("")}
        runner.run(feeds, ["restore_one"])


def file_graph() -> GraphBuilder:
    graph = GraphBuilder()
    path = graph.placeholder("path", [], graph_def.DT_STRING)
    content = graph.placeholder("content", [], graph_def.DT_STRING)
    graph.node("WriteFile", "write", path, content)
    graph.node("ReadFile", "read", path)
    graph.node("ReadFile", "read_after", path, "^write")
    return graph


def test_files_are_written_and_read(tmp_path: Path) -> None:
    feeds = {"path": text(tmp_path / "new" / "file"), "content": np.array(b"\x00\xff", object)}
    (found,) = run_graph(file_graph().graph_def, feeds, ["read_after"], allow_files=True)
    assert found.item() == b"\x00\xff" == (tmp_path / "new" / "file").read_bytes()
    with pytest.raises(NotFoundError, match="No such file"):
        run_graph(file_graph().graph_def, {"path": text(tmp_path / "gone")}, ["read"], allow_files=True)


def test_graphs_may_touch_no_files_unless_they_are_allowed_to(tmp_path: Path) -> None:
    path = tmp_path / "file"
    feeds = {"path": text(path), "content": np.array(b"x", object)}
    with pytest.raises(UnsupportedError, match=r"node 'write' .*allow_files=True"):
        run_graph(file_graph().graph_def, feeds, ["read_after"])
    assert not path.exists()
    with pytest.raises(UnsupportedError, match="allow_files=True"):
        run_graph(saving_graph().graph_def, {"prefix": text(path)}, ["restore"])
    assert not list(tmp_path.iterdir())


def table_graph(**attributes: int | str) -> GraphBuilder:
    """Values of "keys" in a table from strings to int64, filled from the file at "path"."""
    graph = GraphBuilder()
    path = graph.placeholder("path", [], graph_def.DT_STRING)
    keys = graph.placeholder("keys", [-1], graph_def.DT_STRING)
    types = {
        "key_dtype": AttrValue(type=graph_def.DT_STRING),
        "value_dtype": AttrValue(type=graph_def.DT_INT64),
    }
    table = graph.node("HashTableV2", "table", **types)
    graph.node("InitializeTableFromTextFileV2", "fill", table, path, **attributes)
    default = graph.constant("default", np.array(-1, np.int64))
    graph.node("LookupTableFindV2", "found", table, keys, default, "^fill")
    return graph


LINES = b"a,1,x\nb,20,y\r\nc,-3,z\n"


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ({"key_index": 0, "value_index": 1, "delimiter": ","}, [1, 20, -3]),
        ({"key_index": 0, "value_index": -1, "delimiter": ","}, [0, 1, 2]),
        ({"key_index": 0, "value_index": 1, "delimiter": ",", "offset": 1, "vocab_size": 1}, [-1, 20, -1]),
        ({"key_index": -2, "value_index": -1, "delimiter": ","}, [-1, -1, -1]),
    ],
)
def test_tables_from_text_files(
    attributes: dict[str, int | str], expected: list[int], tmp_path: Path
) -> None:
    (tmp_path / "lines").write_bytes(LINES)
    feeds = {"path": text(tmp_path / "lines"), "keys": texts("a", "b", "c")}
    (found,) = run_graph(table_graph(**attributes).graph_def, feeds, ["found"], allow_files=True)
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"key_index": 0, "value_index": 3, "delimiter": ","}, "must have a column 3"),
        ({"key_index": 0, "value_index": 2, "delimiter": ","}, "cells must be int64"),
        ({"key_index": 0, "value_index": 1, "delimiter": ",", "vocab_size": 4}, "there must be 4 lines"),
        ({"key_index": -1, "value_index": 1, "delimiter": ","}, "line numbers must be int64, got string"),
    ],
)
def test_text_files_that_fill_no_table(
    attributes: dict[str, int | str], message: str, tmp_path: Path
) -> None:
    (tmp_path / "lines").write_bytes(LINES)
    feeds = {"path": text(tmp_path / "lines"), "keys": texts("a")}
    with pytest.raises(InvalidArgumentError, match=message):
        run_graph(table_graph(**attributes).graph_def, feeds, ["found"], allow_files=True)
