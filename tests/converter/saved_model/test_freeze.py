"""Freezing: what a signature computes stays; variables, tables and assets are settled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numlite.converter import load_saved_model
from numlite.converter.ir import verify
from numlite.lite.errors import ModelError
from numlite.schema.graph_def import GraphDef
from numlite.schema.saved_model import MetaGraphDef, TrackableObjectGraph

from ..shared_files import SHARED
from .checkpoint_files import write_objects
from .saved_models import (
    BOOL,
    FLOAT,
    INT,
    RESOURCE,
    TENSORS,
    Func,
    Running,
    add,
    constant,
    function,
    init_op,
    linear,
    loaded,
    new_model,
    ops,
    restores,
    signature,
    variable,
    write_model,
)


@pytest.mark.parametrize("saver", [True, False], ids=["restored", "by name"])
def test_variables_of_both_versions(tmp_path: Path, saver: bool) -> None:
    meta_graph = linear()
    if saver:
        restores(meta_graph, {"w": "b", "b": "w"})
    frozen = loaded(tmp_path, meta_graph, tensors=TENSORS).freeze()
    assert ops(frozen) == ["AddV2", "Const", "Const", "Identity", "Mul", "Placeholder"]
    # The nodes that restore say which tensor is which: here they cross over.
    expected = [21, 42, 63] if saver else [12, 24, 36]
    assert Running(frozen)(x=np.float32([2, 2, 2]))["y"].tolist() == expected
    verify(frozen.module)


def test_parts_of_variables(tmp_path: Path) -> None:
    meta_graph = linear()
    restores(meta_graph, {"w": "all", "b": "all"}, {"w": "6 0,3", "b": "6 3,3"})
    tensors = {"all": np.float32([1, 2, 3, 10, 20, 30])}
    model = loaded(tmp_path, meta_graph, tensors=tensors)
    assert Running(model.freeze())(x=np.float32([2, 2, 2]))["y"].tolist() == [12, 24, 36]
    assert list(model.variables) == ["all"]


def counting() -> MetaGraphDef:
    """count: v += d, gives v; get: gives v. In functions, as newer models have them."""
    meta_graph, graph = new_model()
    variable(graph, "v")
    f = function(graph, "inner", {"v": RESOURCE, "d": FLOAT}, {"r": (FLOAT, "read:value:0")}, ["assign"])
    add(f, "AssignAddVariableOp", "assign", "v", "d", dtype=FLOAT)
    add(f, "ReadVariableOp", "read", "v", "^assign", dtype=FLOAT)
    outer = function(graph, "outer", {"v": RESOURCE, "d": FLOAT}, {"r": (FLOAT, "c:output:0")}, ["c"])
    types = {"Tin": [RESOURCE, FLOAT], "Tout": [FLOAT]}
    add(outer, "StatefulPartitionedCall", "c", "v", "d", f=Func("inner"), **types)
    add(graph, "Placeholder", "d", dtype=FLOAT)
    add(
        graph,
        "StatefulPartitionedCall",
        "call",
        "v",
        "d",
        f=Func("outer"),
        Tin=[RESOURCE, FLOAT],
        Tout=[FLOAT],
    )
    add(graph, "ReadVariableOp", "get", "v", dtype=FLOAT)
    signature(meta_graph, "count", {"d": "d:0"}, {"v": "call:0"})
    signature(meta_graph, "get", {}, {"v": "get:0"})
    restores(meta_graph, {"v": "value"})
    return meta_graph


def test_variables_that_are_assigned_to_stay(tmp_path: Path) -> None:
    model = loaded(tmp_path, counting(), tensors={"value": np.float32(5)})
    frozen = model.freeze("count")
    count = Running(frozen)
    assert [count(d=np.float32(2))["v"], count(d=np.float32(3))["v"]] == [7, 10]
    assert frozen.initializers == ("v/restore",)
    assert "StatefulPartitionedCall" not in ops(frozen) and not frozen.module.functions


def test_signatures_that_share_variables(tmp_path: Path) -> None:
    model = loaded(tmp_path, counting(), tensors={"value": np.float32(5)})
    assert "VarHandleOp" in ops(model.freeze("get"))
    alone = model.freeze("get", together=["get"])
    assert ops(alone) == ["Const"]
    assert alone.outputs["v"].tensor == "v/value:0"
    assert Running(alone)()["v"] == 5


def branching(meta_graph: MetaGraphDef, graph: GraphDef) -> None:
    """y = While over If over a shared function that reads a variable: v in one branch, w in the other."""
    for name in ("v", "w"):
        variable(graph, name, 2)
    read = function(graph, "read", {"r": RESOURCE, "a": FLOAT}, {"y": (FLOAT, "mul:z:0")})
    add(read, "ReadVariableOp", "value", "r", dtype=FLOAT)
    add(read, "Mul", "mul", "a", "value:value:0", T=FLOAT)
    state = {"i": INT, "a": FLOAT, "v": RESOURCE, "w": RESOURCE}
    cond = function(graph, "cond", state, {"r": (BOOL, "less:z:0")})
    constant(cond, "limit", 3, INT)
    add(cond, "Less", "less", "i", "limit:output:0", T=INT)
    results = {
        "i": (INT, "add:z:0"),
        "a": (FLOAT, "if:output:0"),
        "v": (RESOURCE, "v"),
        "w": (RESOURCE, "same:output:0"),
    }
    body = function(graph, "body", state, results)
    constant(body, "one", 1, INT)
    add(body, "AddV2", "add", "i", "one:output:0", T=INT)
    add(body, "Equal", "is_one", "i", "one:output:0", T=INT)
    types = {"Tcond": BOOL, "Tin": [RESOURCE, FLOAT], "Tout": [FLOAT]}
    branches = {"then_branch": Func("read"), "else_branch": Func("read")}
    add(body, "If", "first", "is_one:z:0", "v", "a", **types, **branches)
    add(body, "If", "if", "is_one:z:0", "w", "first:output:0", **types, **branches)
    add(body, "Identity", "same", "w", T=RESOURCE)
    constant(graph, "zero", 0, INT)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    types_of_loop = [INT, FLOAT, RESOURCE, RESOURCE]
    made = add(
        graph, "While", "loop", "zero", "x", "v", "w", cond=Func("cond"), body=Func("body"), T=types_of_loop
    )
    for _ in range(4):
        made.attr["output_shapes"].list.shape.add()
    add(graph, "Neg", "y", "loop:1", T=FLOAT)
    signature(meta_graph, "run", {"x": "x:0"}, {"y": "y:0"})


def test_variables_by_their_objects(tmp_path: Path) -> None:
    """Two variables of one name; the objects that the function holds on to tell them apart."""
    meta_graph, graph = new_model()
    for name in ("a", "b"):
        variable(graph, name, shared_name=f"v_{name}")
    f = function(graph, "f", {"x": FLOAT, "a": RESOURCE, "b": RESOURCE}, {"y": (FLOAT, "sub:z:0")})
    for name in ("a", "b"):
        add(f, "ReadVariableOp", f"read_{name}", name, dtype=FLOAT)
    add(f, "Mul", "mul", "x", "read_a:value:0", T=FLOAT)
    add(f, "Sub", "sub", "mul:z:0", "read_b:value:0", T=FLOAT)
    add(graph, "Placeholder", "x", dtype=FLOAT)
    types = {"Tin": [FLOAT, RESOURCE, RESOURCE], "Tout": [FLOAT]}
    add(graph, "StatefulPartitionedCall", "y", "x", "a", "b", f=Func("f"), **types)
    signature(meta_graph, "run", {"x": "x:0"}, {"y": "y:0"})
    saved = meta_graph.object_graph_def
    objects = TrackableObjectGraph()
    # The checkpoint counts its objects in another order.
    for nodes, order in ((saved.nodes, (1, 2)), (objects.nodes, (2, 1))):
        root = nodes.add()
        for name, number in zip("ab", order, strict=True):
            root.children.add(node_id=number, local_name=name)
    for _ in range(2):
        saved.nodes.add().variable.dtype = FLOAT.number
    for name in ("b", "a"):
        value = objects.nodes.add().attributes.add(name="VARIABLE_VALUE", full_name="Variable")
        value.checkpoint_key = f"{name}/value"
    saved.concrete_functions["f"].bound_inputs.extend([1, 2])
    path = write_model(tmp_path, meta_graph)
    tensors = {"a/value": np.float32(3), "b/value": np.float32(1)}
    write_objects(path / "variables" / "variables", tensors, objects.SerializeToString())
    assert Running(load_saved_model(path).freeze())(x=np.float32(2))["y"] == 5


def test_a_reference_that_is_an_output(tmp_path: Path) -> None:
    meta_graph = linear()
    signature(meta_graph, "other", {}, {"b": "b:0"})
    model = loaded(tmp_path, meta_graph, tensors=TENSORS)
    assert Running(model.freeze("other"))()["b"].tolist() == [10, 20, 30]
    assert Running(model.freeze("run"))(x=np.float32([0, 0, 0]))["y"].tolist() == [10, 20, 30]


def test_variables_in_loops_and_branches(tmp_path: Path) -> None:
    meta_graph, graph = new_model()
    branching(meta_graph, graph)
    tensors = {"v": np.float32([1, 2]), "w": np.float32([3, 5])}
    frozen = loaded(tmp_path, meta_graph, tensors=tensors).freeze()
    verify(frozen.module)
    proto = frozen.graph_def()
    assert RESOURCE.number not in {
        argument.type for f in proto.library.function for argument in f.signature.input_arg
    }
    shapes = next(node for node in proto.node if node.op == "While").attr["output_shapes"].list.shape
    assert [[dim.size for dim in shape.dim] for shape in shapes] == [[], [], [2], [2]]
    expected = -(tensors["v"] ** 3) * tensors["w"] ** 3
    assert Running(frozen)(x=np.float32([1, 1]))["y"].tolist() == expected.tolist()


def test_a_variable_in_a_loop_that_is_assigned_to_elsewhere(tmp_path: Path) -> None:
    meta_graph, graph = new_model()
    branching(meta_graph, graph)
    constant(graph, "new", [1.0, 1.0])
    add(graph, "AssignVariableOp", "assign", "w", "new", dtype=FLOAT)
    add(graph, "Identity", "done", "new", "^assign", T=FLOAT)
    signature(meta_graph, "set", {}, {"done": "done:0"})
    tensors = {"v": np.float32([1, 2]), "w": np.float32([3, 5])}
    frozen = loaded(tmp_path, meta_graph, tensors=tensors).freeze("run")
    assert [node.name for node in frozen.graph_def().node if node.op == "VarHandleOp"] == ["w"]
    expected = -(tensors["v"] ** 3) * tensors["w"] ** 3
    assert Running(frozen)(x=np.float32([1, 1]))["y"].tolist() == expected.tolist()


def test_reads_of_every_kind(tmp_path: Path) -> None:
    meta_graph, graph = new_model()
    variable(graph, "v", 3, 2)
    constant(graph, "at", [2, 0], INT)
    constant(graph, "nd", [[1, 1]], INT)
    constant(graph, "rows", [[1], [0], [1]], INT)
    add(graph, "ResourceGather", "gather", "v", "at", dtype=FLOAT, Tindices=INT)
    add(graph, "ResourceGather", "batch", "v", "rows", dtype=FLOAT, Tindices=INT, batch_dims=1)
    add(graph, "ResourceGatherNd", "gather_nd", "v", "nd", dtype=FLOAT, Tindices=INT)
    add(graph, "VariableShape", "shape", "v")
    add(graph, "VarIsInitializedOp", "is_there", "v")
    names = ("gather", "batch", "gather_nd", "shape", "is_there")
    signature(meta_graph, "run", {}, {name: f"{name}:0" for name in names})
    value = np.arange(6, dtype=np.float32).reshape(3, 2)
    found = Running(loaded(tmp_path, meta_graph, tensors={"v": value}).freeze())()
    assert found["gather"].tolist() == [[4, 5], [0, 1]]
    assert found["batch"].tolist() == [[1], [2], [5]]
    assert found["gather_nd"].tolist() == [3]
    assert found["shape"].tolist() == [3, 2] and found["is_there"]


def test_variables_of_the_initialization(tmp_path: Path) -> None:
    """One assigned a computed constant, one a random number: the first is settled, the second stays."""
    meta_graph, graph = new_model()
    for name in ("fixed", "drawn"):
        variable(graph, name, 2)
        add(graph, "ReadVariableOp", f"{name}/read", name, dtype=FLOAT)
    constant(graph, "one", [1.0, 2.0])
    constant(graph, "size", [2], INT)
    add(graph, "Neg", "minus", "one", T=FLOAT)
    add(graph, "RandomUniform", "random", "size", T=INT, dtype=FLOAT)
    add(graph, "AssignVariableOp", "fixed/assign", "fixed", "minus", dtype=FLOAT)
    add(graph, "AssignVariableOp", "drawn/assign", "drawn", "random", dtype=FLOAT)
    add(graph, "NoOp", "init", "^fixed/assign", "^drawn/assign")
    add(graph, "AddV2", "sum", "fixed/read", "drawn/read", T=FLOAT)
    signature(meta_graph, "run", {}, {"fixed": "fixed/read:0", "sum": "sum:0"})
    init_op(meta_graph, "init")
    frozen = loaded(tmp_path, meta_graph).freeze()
    assert frozen.initializers == ("drawn/assign",)
    running = Running(frozen)
    assert running()["fixed"].tolist() == [-1, -2]
    assert running()["sum"].tolist() == running()["sum"].tolist()


def test_a_handle_inside_a_loop(tmp_path: Path) -> None:
    """The loop's body makes the handle of a counter by itself."""
    meta_graph, graph = new_model()
    cond = function(graph, "cond", {"i": INT}, {"r": (BOOL, "less:z:0")})
    constant(cond, "limit", 3, INT)
    add(cond, "Less", "less", "i", "limit:output:0", T=INT)
    body = function(graph, "body", {"i": INT}, {"r": (INT, "add:z:0")}, ["count"])
    add(body, "VarHandleOp", "v", dtype=FLOAT, shape=(), shared_name="v")
    constant(body, "two", 2.0)
    add(body, "AssignAddVariableOp", "count", "v:resource:0", "two:output:0", dtype=FLOAT)
    constant(body, "one", 1, INT)
    add(body, "AddV2", "add", "i", "one:output:0", "^count", T=INT)
    constant(graph, "zero", 0, INT)
    add(graph, "While", "loop", "zero", cond=Func("cond"), body=Func("body"), T=[INT])
    variable(graph, "v")
    add(graph, "ReadVariableOp", "read", "v", "^loop", dtype=FLOAT)
    signature(meta_graph, "run", {}, {"v": "read:0"})
    signature(meta_graph, "loop", {}, {"i": "loop:0"})
    restores(meta_graph, {"v": "v"})
    model = loaded(tmp_path, meta_graph, tensors={"v": np.float32(4)})
    assert Running(model.freeze("run"))()["v"] == 10
    alone = model.freeze("loop", together=["loop"])
    assert alone.initializers == ("v_1/restore",) and Running(alone)()["i"] == 3


def test_inputs_inside_the_graph(tmp_path: Path) -> None:
    meta_graph = linear()
    signature(meta_graph, "inner", {"m": "mul:0"}, {"y": "y:0"})
    frozen = loaded(tmp_path, meta_graph, tensors=TENSORS).freeze("inner")
    assert frozen.inputs["m"].tensor == "mul/m:0"
    assert ops(frozen) == ["AddV2", "Const", "Identity", "Placeholder"]
    assert Running(frozen)(m=np.float32([1, 1, 1]))["y"].tolist() == [11, 21, 31]


def test_an_input_that_is_not_used_and_outputs_that_are_inputs(tmp_path: Path) -> None:
    meta_graph, graph = new_model()
    for name in ("a", "b"):
        add(graph, "Placeholder", name, dtype=FLOAT)
    signature(meta_graph, "run", {"b": "b:0", "a": "a:0"}, {"z": "a:0", "y": "a:0"})
    frozen = loaded(tmp_path, meta_graph).freeze()
    assert list(frozen.inputs) == ["b", "a"] and list(frozen.outputs) == ["z", "y"]
    assert ops(frozen) == ["Placeholder", "Placeholder"]
    found = Running(frozen)(a=np.float32(1), b=np.float32(2))
    assert found == {"z": 1, "y": 1}


def test_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="variable 'w' has no value"):
        loaded(tmp_path / "a", linear()).freeze()
    meta_graph = linear()
    restores(meta_graph, {"w": "w", "b": "absent"})
    with pytest.raises(ModelError, match="no tensor 'absent'"):
        loaded(tmp_path / "b", meta_graph, tensors=TENSORS).freeze()
    meta_graph = linear()
    signature(meta_graph, "bad", {}, {"y": "nowhere:0"})
    with pytest.raises(ModelError, match="no node 'nowhere'"):
        loaded(tmp_path / "c", meta_graph, tensors=TENSORS).freeze("bad")
    meta_graph = linear()
    signature(meta_graph, "bad", {}, {"y": "y:7"})
    with pytest.raises(ModelError, match="'y:7': node 'y' has 1 results"):
        loaded(tmp_path / "d", meta_graph, tensors=TENSORS).freeze("bad")
    meta_graph = linear()
    restores(meta_graph, {"w": "w", "b": "b"}, {"w": "4 0,3"})
    with pytest.raises(ModelError, match="shape must be"):
        loaded(tmp_path / "e", meta_graph, tensors=TENSORS).freeze()


SAVED_MODELS = sorted((SHARED / "convert" / "savedmodels").glob("*/index.json"))


def described(index: Path) -> tuple[dict[str, Any], Any, Any]:
    text = json.loads(index.read_text(encoding="utf-8"))
    return text, np.load(index.parent / "in.npz"), np.load(index.parent / "out.npz")


def tensor(arrays: Any, entry: dict[str, Any]) -> np.ndarray:
    if entry["enc"] != "str":
        return arrays[entry["key"]]
    content, offsets = arrays[entry["key"]].tobytes(), arrays[entry["key"] + "_off"]
    found = np.empty(len(offsets) - 1, object)
    found[:] = [content[offsets[i] : offsets[i + 1]] for i in range(len(found))]
    return found.reshape(entry["shape"])


@pytest.mark.skipif(not SAVED_MODELS, reason="needs ../shared/convert/savedmodels")
@pytest.mark.parametrize("index", SAVED_MODELS, ids=lambda path: path.parent.name)
def test_real_models_give_what_tensorflow_gives(index: Path) -> None:
    text, inputs, expected = described(index)
    model = load_saved_model(index.parent / text["dir"])
    for name, entry in text["signatures"].items():
        frozen = model.freeze(name)
        verify(frozen.module)
        assert not {"StatefulPartitionedCall", "PartitionedCall"} & set(ops(frozen))
        found = Running(frozen)(**{one["name"]: tensor(inputs, one) for one in entry["inputs"]})
        for output in entry["outputs"]:
            value, wanted = found[output["name"]], tensor(expected, output)
            assert value.shape == wanted.shape
            if value.dtype.kind in "fc":
                np.testing.assert_allclose(value, wanted, **text["tol"])
            else:
                assert value.tobytes() == wanted.tobytes() or (value == wanted).all()


def test_calls_of_what_may_be_an_operator_stay_calls(tmp_path: Path) -> None:
    meta_graph, graph = new_model()
    add(graph, "Placeholder", "x", dtype=FLOAT)
    for name, says in (("plain", ""), ("known", "embedding_matmul"), ("lstm", "lstm_0a"), ("gru", "gru_0a")):
        made = function(graph, name, {"a": FLOAT}, {"r": (FLOAT, "b:y:0")})
        add(made, "Neg", "b", "a", T=FLOAT)
        made.attr["api_implements" if "_0" in says else "_implements"].s = says.encode()
        add(graph, "PartitionedCall", f"call_{name}", "x", f=Func(name), Tin=[FLOAT], Tout=[FLOAT])
    calls = [node.name for node in graph.node if node.op == "PartitionedCall"]
    signature(meta_graph, "run", {"x": "x:0"}, {name: f"{name}:0" for name in calls})
    frozen = loaded(tmp_path, meta_graph).freeze()
    left = [node.name for node in frozen.graph_def().node if node.op == "PartitionedCall"]
    assert left == ["call_known", "call_lstm"]
    assert [y.tolist() for y in Running(frozen)(x=np.float32([3])).values()] == [[-3]] * 4
