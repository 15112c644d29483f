"""Tables of frozen models: filled from assets and from the checkpoint."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numlite.converter import Converter
from numlite.interpreter import Interpreter

from .saved_models import (
    FLOAT,
    LONG,
    STRING,
    add,
    constant,
    init_op,
    loaded,
    new_model,
    restores,
    signature,
    table_model,
    write_model,
)


def test_tables_from_assets(tmp_path: Path) -> None:
    (tmp_path / "assets").mkdir()
    (tmp_path / "assets" / "words.txt").write_bytes(b"a,1\nb,20\r\nc,-3\n")
    frozen = loaded(tmp_path, table_model("words.txt")).freeze()
    assert frozen.initializers == ("fill",)
    nodes = {node.name: node for node in frozen.graph_def().node}
    assert nodes["fill"].op == "InitializeTableV2"
    keys, values = (nodes[name].attr["value"].tensor for name in nodes["fill"].input[1:])
    assert list(keys.string_val) == [b"a", b"b", b"c"]
    assert np.frombuffer(values.tensor_content, np.int64).tolist() == [1, 20, -3]


def test_the_size_of_a_table_is_a_number(tmp_path: Path) -> None:
    """TensorFlow's graphs go on with a scalar, LiteRT's operator gives a vector."""
    meta_graph, graph = new_model()
    kinds = {"key_dtype": LONG, "value_dtype": STRING}
    add(graph, "HashTableV2", "table", **kinds, shared_name="t")
    constant(graph, "keys", [4, 9, 1], LONG)
    constant(graph, "values", [b"a", b"b", b"c"], STRING)
    add(graph, "InitializeTableV2", "fill", "table", "keys", "values", Tkey=LONG, Tval=STRING)
    add(graph, "NoOp", "init", "^fill")
    add(graph, "Placeholder", "x", dtype=LONG)
    add(graph, "LookupTableSizeV2", "size", "table")
    add(graph, "AddV2", "y", "x", "size", T=LONG)
    signature(meta_graph, "run", {"x": "x:0"}, {"size": "size:0", "y": "y:0"})
    init_op(meta_graph, "init")
    model = Converter.from_saved_model(write_model(tmp_path / "model", meta_graph)).convert()
    found = Interpreter(model_content=model).get_signature_runner("run")(x=np.array(5))
    assert found["size"].shape == found["y"].shape == ()
    assert (found["size"], found["y"]) == (3, 8)


@pytest.mark.parametrize("op", ["MutableHashTableV2", "MutableDenseHashTableV2"])
def test_tables_of_the_checkpoint(tmp_path: Path, op: str) -> None:
    """A dense table stores all its places, whose keys are 0 where empty and -1 where deleted."""
    meta_graph, graph = new_model()
    constant(graph, "empty", 0.0)
    constant(graph, "deleted", -1.0)
    marks = ("empty", "deleted") if "Dense" in op else ()
    add(graph, op, "table", *marks, key_dtype=FLOAT, value_dtype=FLOAT)
    if marks:
        graph.node[-1].attr["value_shape"].shape.SetInParent()
    constant(graph, "none", -5.0)
    add(graph, "Placeholder", "k", dtype=FLOAT)
    add(graph, "LookupTableFindV2", "find", "table", "k", "none", Tin=FLOAT, Tout=FLOAT)
    signature(meta_graph, "run", {"k": "k:0"}, {"v": "find:0"})
    restores(meta_graph, {}, {})
    constant(graph, "names", [b"keys", b"values"], STRING)
    constant(graph, "parts", [b"", b""], STRING)
    add(graph, "RestoreV2", "read", "save/file", "names", "parts", dtypes=[FLOAT, FLOAT])
    add(graph, "LookupTableImportV2", "import", "table", "read", "read:1", Tin=FLOAT, Tout=FLOAT)
    next(node for node in graph.node if node.name == "save/all").input.append("^import")
    keys, values = np.float32([[0], [3], [-1], [7]]), np.float32([[0], [30], [1], [70]])
    if not marks:
        keys, values = keys[1::2, 0], values[1::2, 0]
    frozen = loaded(tmp_path, meta_graph, tensors={"keys": keys, "values": values}).freeze()
    nodes = {node.name: node for node in frozen.graph_def().node}
    made = nodes[frozen.initializers[0]]
    assert made.op == ("LookupTableInsertV2" if marks else "LookupTableImportV2")
    contents = [nodes[name].attr["value"].tensor for name in made.input[1:]]
    assert [np.frombuffer(c.tensor_content, np.float32).tolist() for c in contents] == [[3, 7], [30, 70]]
