"""SavedModel folders: choosing a graph, signatures in order, and what a damaged one says."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from random import Random

import numpy as np
import pytest
from numlite.converter import load_saved_model
from numlite.converter.ir import print_module, verify
from numlite.converter.source_file import load_graph
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.saved_model import AssetFileDef, MetaGraphDef

from ..shared_files import SHARED
from .saved_models import (
    FLOAT,
    INT,
    RESOURCE,
    Func,
    add,
    constant,
    function,
    loaded,
    new_model,
    ops,
    restores,
    signature,
    variable,
    write_model,
)

HUGE = 1 << 40
REFUSALS = (ModelError, UnsupportedError)


def simple(*tags: str) -> MetaGraphDef:
    meta_graph, graph = new_model(*tags)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    variable(graph, "w", 2)
    f = function(graph, "f", {"w": RESOURCE, "x": FLOAT}, {"y": (FLOAT, "mul:z:0")}, ["read"])
    add(f, "ReadVariableOp", "read", "w", dtype=FLOAT)
    add(f, "Mul", "mul", "x", "read:value:0", T=FLOAT)
    add(graph, "StatefulPartitionedCall", "y", "w", "x", f=Func("f"), Tin=[RESOURCE, FLOAT], Tout=[FLOAT])
    for name in ("second", "first", "third"):
        signature(meta_graph, name, {"x": "x:0"}, {"y": "y:0"})
    restores(meta_graph, {"w": "w"})
    return meta_graph


TENSORS = {"w": np.float32([2, 3])}


@pytest.mark.parametrize("as_text", [False, True], ids=["pb", "pbtxt"])
def test_signatures_come_in_their_order(tmp_path: Path, as_text: bool) -> None:
    path = write_model(tmp_path, simple(), tensors=TENSORS, as_text=as_text)
    model = load_saved_model(path)
    assert list(model.signatures) == ["second", "first", "third"]
    assert model.tags == ("serve",) and list(model.variables) == ["w"]
    assert ops(model.freeze("first")) == ["Const", "Mul", "Placeholder"]
    assert "StatefulPartitionedCall" in print_module(load_graph(path))


def test_tags_choose(tmp_path: Path) -> None:
    graphs = [simple("serve"), simple("serve", "gpu"), simple("train")]
    path = write_model(tmp_path / "many", *graphs, tensors=TENSORS)
    assert load_saved_model(path).tags == ("serve",)
    assert load_saved_model(path, ["gpu", "serve"]).tags == ("serve", "gpu")
    with pytest.raises(ModelError, match=r"tags \{gpu\}; .*: \{serve\}, \{gpu, serve\}, \{train\}"):
        load_saved_model(path, ["gpu"])
    with pytest.raises(ModelError, match="there are: 'second', 'first', 'third'"):
        load_saved_model(path).freeze()
    twice = write_model(tmp_path / "twice", simple("a"), simple("a"))
    with pytest.raises(ModelError, match="2 graphs have the tags"):
        load_saved_model(twice, ["a"])


def test_folders_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no SavedModel"):
        load_saved_model(tmp_path)
    (tmp_path / "saved_model.cpb").write_bytes(b"x")
    with pytest.raises(UnsupportedError, match="in chunks"):
        load_saved_model(tmp_path)
    (tmp_path / "saved_model.pbtxt").write_bytes(b"meta_graphs { nobody: 1 }")
    with pytest.raises(ModelError, match="damaged"):
        load_saved_model(tmp_path)
    (tmp_path / "saved_model.pb").write_bytes(b"\x08\x01")
    with pytest.raises(ModelError, match="must hold a graph"):
        load_saved_model(tmp_path)


def test_names_that_occur_twice(tmp_path: Path) -> None:
    meta_graph = simple()
    signature(meta_graph, "first", {}, {})
    with pytest.raises(ModelError, match="signature 'first' occurs twice"):
        loaded(tmp_path, meta_graph)
    meta_graph = simple()
    meta_graph.signature_def[0].value.inputs.add(key="x").value.name = "x:0"
    with pytest.raises(ModelError, match="signature 'second': input 'x' occurs twice"):
        loaded(tmp_path, meta_graph)
    meta_graph = simple()
    meta_graph.graph_def.node.add(name="x", op="NoOp")
    with pytest.raises(ModelError, match="same name: `x`"):
        loaded(tmp_path, meta_graph, tensors=TENSORS).freeze("first")


def test_signatures_of_other_tensors(tmp_path: Path) -> None:
    for fill, error, message in (
        (lambda info: info.coo_sparse.SetInParent(), UnsupportedError, "not one tensor"),
        (lambda info: info.composite_tensor.SetInParent(), UnsupportedError, "not one tensor"),
        (lambda info: None, ModelError, "must name a tensor"),
    ):
        meta_graph = simple()
        fill(meta_graph.signature_def[0].value.outputs.add(key="s").value)
        with pytest.raises(error, match=message):
            loaded(tmp_path, meta_graph)


def test_assets_of_the_first_version(tmp_path: Path) -> None:
    meta_graph = simple()
    asset = AssetFileDef(filename="deep/words.txt")
    asset.tensor_info.name = "file:0"
    listed = meta_graph.collection_def.add(key="saved_model_assets").value.any_list
    listed.value.add(value=asset.SerializeToString())
    assert loaded(tmp_path, meta_graph).assets == {"file:0": tmp_path / "assets" / "deep" / "words.txt"}
    listed.value[0].value = b"\x0a\xff"
    with pytest.raises(ModelError, match="assets is damaged"):
        _ = loaded(tmp_path, meta_graph).assets


def test_ops_of_others_in_functions(tmp_path: Path) -> None:
    meta_graph, graph = new_model()
    op_def = meta_graph.meta_info_def.stripped_op_list.op.add(name="MySplit")
    op_def.input_arg.add(name="x", type=FLOAT.number)
    for name in ("low", "high"):
        op_def.output_arg.add(name=name, type=FLOAT.number)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    f = function(graph, "f", {"x": FLOAT}, {"y": (FLOAT, "split:high:0")})
    add(f, "MySplit", "split", "x")
    add(graph, "PartitionedCall", "y", "x", f=Func("f"), Tin=[FLOAT], Tout=[FLOAT])
    signature(meta_graph, "run", {"x": "x:0"}, {"y": "y:0"})
    frozen = loaded(tmp_path, meta_graph).freeze()
    assert frozen.outputs["y"].tensor == "y/split:1"
    assert ops(frozen) == ["MySplit", "Placeholder"]


def test_anonymous_variables_are_different(tmp_path: Path) -> None:
    meta_graph, graph = new_model()
    for name in ("a", "b"):
        variable(graph, name, shared_name="cd2c89b7-88b7-44c8-ad83-06c2a9158347")
        add(graph, "ReadVariableOp", f"{name}/read", name, dtype=FLOAT)
    signature(meta_graph, "run", {}, {"a": "a/read:0", "b": "b/read:0"})
    restores(meta_graph, {"a": "a", "b": "b"})
    tensors = {"a": np.float32(1), "b": np.float32(2)}
    frozen = loaded(tmp_path, meta_graph, tensors=tensors).freeze()
    assert [output.tensor for output in frozen.outputs.values()] == ["a/value:0", "b/value:0"]


def test_huge_constants_are_never_expanded(tmp_path: Path) -> None:
    meta_graph, graph = new_model()
    constant(graph, "c", 1.0)
    tensor = graph.node[0].attr["value"].tensor
    tensor.tensor_shape.dim.add(size=HUGE)
    tensor.float_val.append(2.0)
    tensor.ClearField("tensor_content")
    signature(meta_graph, "run", {}, {"c": "c:0"})
    model = loaded(tmp_path, meta_graph)
    tracemalloc.start()
    frozen = model.freeze()
    verify(frozen.module)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 24 and frozen.graph_def().node[0].attr["value"].tensor == tensor


def recursive(meta_graph: MetaGraphDef, by: str) -> None:
    """A function that calls itself: straight on, or in its own branch or loop."""
    graph = meta_graph.graph_def
    f = function(graph, "f", {"w": RESOURCE, "x": FLOAT}, {"w": (RESOURCE, "w"), "x": (FLOAT, "c:output:1")})
    types = {"Tin": [RESOURCE, FLOAT], "Tout": [RESOURCE, FLOAT]}
    if by == "StatefulPartitionedCall":
        add(f, by, "c", "w", "x", f=Func("f"), **types)
    elif by == "While":
        add(f, by, "c", "w", "x", body=Func("f"), cond=Func("f"), T=[RESOURCE, FLOAT])
    else:
        constant(f, "one", 1, INT)
        add(f, by, "c", "one:output:0", "w", "x", branches=[Func("f"), Func("f")], **types)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    variable(graph, "w", 2)
    add(graph, "StatefulPartitionedCall", "y", "w", "x", f=Func("f"), **types)
    signature(meta_graph, "run", {"x": "x:0"}, {"y": "y:1"})


@pytest.mark.parametrize("by", ["StatefulPartitionedCall", "Case", "While"])
def test_recursive_functions(tmp_path: Path, by: str) -> None:
    meta_graph, _ = new_model()
    recursive(meta_graph, by)
    try:
        frozen = loaded(tmp_path, meta_graph, tensors=TENSORS).freeze()
        verify(frozen.module)
    except REFUSALS as error:
        assert "'f'" in str(error)


def test_functions_in_functions_in_functions(tmp_path: Path) -> None:
    """Each level hands the variable to the next twice: copies would double and double."""
    meta_graph, graph = new_model()
    types = {"Tcond": INT, "Tin": [RESOURCE], "Tout": [FLOAT]}
    last = function(graph, "f0", {"w": RESOURCE}, {"y": (FLOAT, "read:value:0")})
    add(last, "ReadVariableOp", "read", "w", dtype=FLOAT)
    for i in range(1, 60):
        f = function(graph, f"f{i}", {"w": RESOURCE}, {"y": (FLOAT, "if:output:0")})
        constant(f, "one", 1, INT)
        branches = {"then_branch": Func(f"f{i - 1}"), "else_branch": Func(f"f{i - 1}")}
        add(f, "If", "if", "one:output:0", "w", **types, **branches)
    variable(graph, "w", 2)
    constant(graph, "one", 1, INT)
    add(graph, "If", "y", "one", "w", then_branch=Func("f59"), else_branch=Func("f59"), **types)
    signature(meta_graph, "run", {}, {"y": "y:0"})
    with pytest.raises(ModelError, match="copies for their variables would have more"):
        loaded(tmp_path, meta_graph, tensors=TENSORS).freeze()


def test_functions_that_all_lead_to_each_other(tmp_path: Path) -> None:
    meta_graph, graph = new_model()
    types = {"Tcond": INT, "Tin": [RESOURCE], "Tout": [FLOAT]}
    for i in range(12):
        f = function(graph, f"f{i}", {"w": RESOURCE}, {"y": (FLOAT, "one:output:0")})
        constant(f, "one", 1.0)
        constant(f, "zero", 0, INT)
        for j in range(12):
            branches = {"then_branch": Func(f"f{j}"), "else_branch": Func(f"f{j}")}
            add(f, "If", f"if{j}", "zero:output:0", "w", **types, **branches)
    variable(graph, "w", 2)
    constant(graph, "zero", 0, INT)
    add(graph, "If", "y", "zero", "w", then_branch=Func("f0"), else_branch=Func("f0"), **types)
    signature(meta_graph, "run", {}, {"y": "y:0"})
    with pytest.raises(ModelError, match="copies for their variables would have more"):
        loaded(tmp_path, meta_graph, tensors=TENSORS).freeze()


def test_truncated_and_mutated_models(tmp_path: Path) -> None:
    random = Random(5)
    path = write_model(tmp_path, simple(), tensors=TENSORS) / "saved_model.pb"
    content = path.read_bytes()
    for turn in range(400):
        changed = bytearray(content)
        if turn % 4 == 0:
            changed = changed[: random.randrange(len(changed))]
        else:
            for _ in range(random.randrange(1, 4)):
                changed[random.randrange(len(changed))] = random.randrange(256)
        path.write_bytes(bytes(changed))
        try:
            model = load_saved_model(tmp_path)
            for name in model.signatures:
                verify(model.freeze(name).module)
        except REFUSALS:
            pass


SAVED_MODELS = sorted((SHARED / "convert" / "savedmodels").glob("*/index.json"))


@pytest.mark.skipif(not SAVED_MODELS, reason="needs ../shared/convert/savedmodels")
@pytest.mark.parametrize("index", SAVED_MODELS, ids=lambda path: path.parent.name)
def test_what_real_models_hold(index: Path) -> None:
    text = json.loads(index.read_text(encoding="utf-8"))
    model = load_saved_model(index.parent / text["dir"])
    assert set(text["signatures"]) <= set(model.signatures)
    for name, entry in text["signatures"].items():
        found = model.signatures[name]
        assert set(found.inputs) == {one["name"] for one in entry["inputs"]}
        assert set(found.outputs) == {one["name"] for one in entry["outputs"]}
    for tags in text.get("meta_graphs", []):
        assert load_saved_model(index.parent / text["dir"], tags).tags == tuple(tags)
    assert all(file.is_file() for file in model.assets.values())
