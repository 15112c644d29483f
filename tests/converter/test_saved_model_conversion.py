"""SavedModels (../shared/convert/savedmodels) by their signatures, against TensorFlow's own outputs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numlite.converter import Converter, OpsSet, TargetSpec
from numlite.interpreter import Interpreter
from numlite.lite.errors import ModelError
from numlite.schema import tflite

from ..shared_folder import SHARED
from .corpus import decoded
from .graphs import checked, histogram, operators
from .saved_model.saved_models import FLOAT, Func, add, function, new_model, signature, variable, write_model

FOLDER = SHARED / "convert/savedmodels"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/index.json"))

needs_models = pytest.mark.skipif(not NAMES, reason="needs ../shared/convert/savedmodels")


def converter(name: str) -> tuple[Converter, dict]:
    described = json.loads((FOLDER / name / "index.json").read_text())
    made = Converter.from_saved_model(FOLDER / name / "model", tags=described.get("tags"))
    made.target_spec = TargetSpec(supported_ops=[OpsSet.TFLITE_BUILTINS, OpsSet.SELECT_TF_OPS])
    return made, described


@needs_models
@pytest.mark.parametrize("name", NAMES)
def test_every_signature(name: str) -> None:
    made, described = converter(name)
    model = checked(made.convert())
    with np.load(FOLDER / name / "in.npz") as given, np.load(FOLDER / name / "out.npz") as expected:
        for key, signature in described["signatures"].items():
            # A fresh interpreter: the outputs are those of a first call.
            runner = Interpreter(model_content=model).get_signature_runner(key)
            outputs = runner(**{t["name"]: decoded(t, given) for t in signature["inputs"]})
            for tensor in signature["outputs"]:
                y, wanted = outputs[tensor["name"]], decoded(tensor, expected)
                assert y.shape == wanted.shape
                if wanted.dtype.kind in "fc":
                    np.testing.assert_allclose(y, wanted, rtol=1e-3, atol=1e-4)
                else:
                    assert np.array_equal(y.astype(wanted.dtype), wanted)


@needs_models
def test_signatures_are_chosen_and_keep_their_names() -> None:
    made, described = converter("multi_signature")
    keys = list(described["signatures"])
    model = tflite.read(made.convert())
    assert {s.signature_key for s in model.signature_defs} == set(keys)
    one = Converter.from_saved_model(FOLDER / "multi_signature/model", signature_keys=keys[:1])
    [signature] = tflite.read(one.convert()).signature_defs
    assert signature.signature_key == keys[0]
    names = [t["name"] for t in described["signatures"][keys[0]]["inputs"]]
    assert sorted(i.name for i in signature.inputs) == sorted(names)


def test_what_only_other_signatures_assign_is_constant(tmp_path: Path) -> None:
    meta_graph, graph = new_model()
    variable(graph, "v")
    add(graph, "Placeholder", "d", dtype=FLOAT)
    add(graph, "AssignVariableOp", "assign", "v", "d", dtype=FLOAT)
    add(graph, "ReadVariableOp", "assigned", "v", "^assign", dtype=FLOAT)
    add(graph, "ReadVariableOp", "get", "v", dtype=FLOAT)
    signature(meta_graph, "set", {"d": "d:0"}, {"v": "assigned:0"})
    signature(meta_graph, "get", {}, {"v": "get:0"})
    path = write_model(tmp_path, meta_graph, tensors={"v": np.float32(5)})
    alone, both = (Converter.from_saved_model(path, keys).convert() for keys in (["get", "get"], None))
    assert operators(alone) == [] and "VAR_HANDLE" in histogram(both)
    assert [s.signature_key for s in tflite.read(alone).signature_defs] == ["get"]
    runner = Interpreter(model_content=alone).get_signature_runner("get")
    assert runner()["v"] == 5
    interpreter = Interpreter(model_content=both)
    assert interpreter.get_signature_runner("set")(d=np.float32(3))["v"] == 3
    assert interpreter.get_signature_runner("get")()["v"] == 3


@needs_models
def test_signatures_that_are_one_function_are_converted_once(tmp_path: Path) -> None:
    """Keras 3 exports a model as "serve" and as "serving_default"."""
    meta_graph, graph = new_model()
    for key, op in (("serve", "Neg"), ("serving_default", "Neg"), ("other", "Exp")):
        add(graph, "Placeholder", f"{key}_x", dtype=FLOAT)
        wrapper = function(graph, f"wrapper_{key}", {"x": FLOAT}, {"y": (FLOAT, "inner:y:0")})
        add(wrapper, op, "inner", "x", T=FLOAT)
        wrapper.arg_attr[0].attr["_user_specified_name"].s = key.encode()
        call = f"call_{key}"
        add(
            graph,
            "PartitionedCall",
            call,
            f"{key}_x",
            f=Func(wrapper.signature.name),
            Tin=[FLOAT],
            Tout=[FLOAT],
        )
        signature(meta_graph, key, {"x": f"{key}_x:0"}, {"y": f"{call}:0"})
    path = write_model(tmp_path, meta_graph)
    assert [entry.key for entry in Converter.from_saved_model(path).entries] == ["serving_default", "other"]
    named = Converter.from_saved_model(path, signature_keys=["serve", "serving_default"])
    assert [entry.key for entry in named.entries] == ["serve", "serving_default"]


@needs_models
def test_unknown_signatures() -> None:
    with pytest.raises(ModelError, match="no signature 'nothing'; there are:"):
        Converter.from_saved_model(FOLDER / "mlp_variables/model", signature_keys=["nothing"])


@needs_models
def test_input_shapes_by_the_signatures_names() -> None:
    _, described = converter("keras_cnn")
    [[key, signature]] = described["signatures"].items()
    [tensor] = signature["inputs"]
    shape = [7, *tensor["shape"][1:]]
    made = Converter.from_saved_model(FOLDER / "keras_cnn/model", [key], input_shapes={tensor["name"]: shape})
    subgraph = tflite.read(made.convert()).subgraphs[0]
    assert subgraph.tensors[subgraph.inputs[0]].shape.tolist() == shape
    assert all(not len(t.shape_signature) for t in subgraph.tensors)
