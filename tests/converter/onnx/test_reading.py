"""ONNX files: what is read, and what is said of what is not."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter import Converter, run_graph
from numlite.converter.source_file import FileKind, file_kind
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.schema.onnx import FunctionProto, ModelProto, OperatorSetIdProto, TensorProto

from ...onnx_builder import attribute, model, node, tensor, value


def run(content: ModelProto | Path, **inputs: np.ndarray) -> dict[str, np.ndarray]:
    """The outputs of the converted model."""
    made = Converter.from_onnx(content).convert()
    return Interpreter(model_content=made).get_signature_runner()(**inputs)


def scaled(weights: np.ndarray) -> ModelProto:
    """y = x * w."""
    return model(
        [node("Mul", ["x", "w"], "y")], [value("x", ["n", 3])], [value("y", ["n", 3])], {"w": weights}
    )


WEIGHTS = np.array([1, 2, 3], np.float32)
X = np.array([[1, -1, 2]], np.float32)


def test_a_file_its_bytes_and_a_message_are_the_same_model(tmp_path: Path) -> None:
    made = scaled(WEIGHTS)
    (tmp_path / "model.any").write_bytes(made.SerializeToString())
    models = [
        Converter.from_onnx(source).convert()
        for source in (made, made.SerializeToString(), tmp_path / "model.any")
    ]
    assert models[0] == models[1] == models[2]
    assert file_kind(tmp_path / "model.any") == FileKind.ONNX


def test_run_graph_takes_the_file(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").write_bytes(scaled(WEIGHTS).SerializeToString())
    [y] = run_graph(tmp_path / "model.onnx", {"x": X}, ["y"])
    np.testing.assert_array_equal(y, X * WEIGHTS)


def test_names_of_inputs_and_outputs_are_the_models_own() -> None:
    made = model([node("Neg", ["in:0"], "out::1/y")], [value("in:0", [2])], [value("out::1/y", [2])])
    found = run(made, **{"in:0": np.array([1, 2], np.float32)})
    np.testing.assert_array_equal(found["out::1/y"], [-1, -2])


def with_external(location: str, offset: str = "4", **more: str) -> ModelProto:
    made = scaled(WEIGHTS)
    held = made.graph.initializer[0]
    held.raw_data = b""
    held.data_location = TensorProto.EXTERNAL
    for key, text in {"location": location, "offset": offset, "length": "12", **more}.items():
        held.external_data.add(key=key, value=text)
    return made


def test_external_data_are_read_from_the_models_folder(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(b"skip" + WEIGHTS.tobytes())
    path = tmp_path / "model.onnx"
    path.write_bytes(with_external("weights.bin").SerializeToString())
    np.testing.assert_array_equal(run(path, x=X)["y"], X * WEIGHTS)


@pytest.mark.parametrize(
    ("location", "offset", "message"),
    [
        ("../weights.bin", "0", "must lie in the model's folder"),
        ("/etc/passwd", "0", "must lie in the model's folder"),
        ("link.bin", "0", "must lie in the model's folder"),
        ("", "0", "must lie in the model's folder"),
        ("a\0b", "0", "must lie in the model's folder"),
        ("none.bin", "0", "cannot be read"),
        ("short.bin", "0", "must lie inside its file of 4 bytes, got 12 from 0"),
        ("short.bin", "-1", "must lie inside its file"),
        ("short.bin", "many", "must be numbers"),
    ],
)
def test_external_data_elsewhere_are_refused(
    tmp_path: Path, location: str, offset: str, message: str
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "weights.bin").write_bytes(WEIGHTS.tobytes())
    (folder / "link.bin").symlink_to(tmp_path / "weights.bin")
    (folder / "short.bin").write_bytes(b"abcd")
    (folder / "model.onnx").write_bytes(with_external(location, offset).SerializeToString())
    with pytest.raises((ModelError, UnsupportedError), match=message):
        Converter.from_onnx(folder / "model.onnx")


def test_external_data_of_bytes_ask_for_the_path() -> None:
    with pytest.raises(UnsupportedError, match="give the model as a path"):
        Converter.from_onnx(with_external("weights.bin"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\xff" * 40, "not an ONNX model"),
        (ModelProto(ir_version=8).SerializeToString(), "no graph or no opset"),
    ],
)
def test_what_is_no_onnx_model_says_what_it_is(content: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Converter.from_onnx(content)


def test_an_old_opset_says_what_makes_it_newer() -> None:
    with pytest.raises(UnsupportedError, match=r"7 or newer for Add, got 6; onnx\.version_converter"):
        Converter.from_onnx(
            model([node("Add", ["x", "x"], "y")], [value("x", [1])], [value("y", [1])], opset=6)
        )


def test_all_nodes_that_are_refused_are_listed_with_their_reasons() -> None:
    nodes = [
        node("NoSuchThing", ["x"], "a"),
        node("Neg", ["a"], "b"),
        node("NoSuchThing", ["b"], "c"),
        node("ImageDecoder", ["x"], "y"),
    ]
    with pytest.raises(UnsupportedError) as error:
        Converter.from_onnx(model(nodes, [value("x", [1])], [value("y", [1])]))
    text = str(error.value)
    # What depends on a refused node is looked at no more.
    assert "NoSuchThing (NoSuchThing_a)" in text and "ImageDecoder (ImageDecoder_y)" in text


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([node("Neg", ["gone"], "y")], "'?gone'? is used before any node gives it"),
        ([node("Neg", ["y"], "y")], "is used before any node gives it"),
        ([node("Neg", ["x"], "y"), node("Abs", ["x"], "y")], "must be given once"),
        ([node("Neg", [""], "y")], "input 0 must be there"),
        ([node("Transpose", ["x"], "y", perm=[0, 0])], "perm must name every axis"),
        ([node("Neg", ["x"], "y", domain="who.knows")], "is not among the model's opsets"),
        ([node("Softmax", ["x"], "y", axis=5)], "axis must be in"),
        ([node("LeakyRelu", ["x"], "y", alpha=[1, 2])], "must be of type FLOAT"),
    ],
)
def test_a_wrong_graph_is_a_model_error_that_names_the_node(nodes: list, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        Converter.from_onnx(model(nodes, [value("x", [2, 3])], [value("y", None)]))


def test_a_tensor_must_fill_its_shape() -> None:
    made = scaled(WEIGHTS)
    made.graph.initializer[0].dims[0] = 4
    with pytest.raises(ModelError, match=r"'w': \[4\] of FLOAT is 16 bytes, got 12"):
        Converter.from_onnx(made)


def test_functions_are_put_in_place_of_their_calls() -> None:
    """y = relu(x) + k, of a function with an attribute and a default."""
    inner = node("Constant", [], "k")
    inner.attribute.append(attribute("value_float", 0.0))
    inner.attribute[0].ref_attr_name = "added"
    function = FunctionProto(
        name="Shifted",
        domain="own",
        input=["a"],
        output=["b"],
        node=[inner, node("Relu", ["a"], "r"), node("Add", ["r", "k"], "b")],
        opset_import=[OperatorSetIdProto(domain="", version=21)],
        attribute_proto=[attribute("added", 1.5)],
    )
    nodes = [node("Shifted", ["x"], "m", domain="own"), node("Shifted", ["m"], "y", domain="own", added=2.0)]
    made = model(nodes, [value("x", [2])], [value("y", [2])], own=1)
    made.functions.append(function)
    np.testing.assert_array_equal(run(made, x=np.array([-1, 1], np.float32))["y"], [3.5, 4.5])


def test_functions_that_call_themselves_are_refused() -> None:
    made = model([node("F", ["x"], "y", domain="own")], [value("x", [2])], [value("y", [2])], own=1)
    made.functions.append(
        FunctionProto(
            name="F", domain="own", input=["a"], output=["b"], node=[node("F", ["a"], "b", domain="own")]
        )
    )
    with pytest.raises(ModelError, match="must not call themselves"):
        Converter.from_onnx(made)


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_other_floats_keep_their_types_outside_and_are_computed_in_32_bits(dtype: type) -> None:
    nodes = [node("Mul", ["x", "w"], "m"), node("Sqrt", ["m"], "y")]
    made = model(nodes, [value("x", [2], dtype)], [value("y", [2], dtype)], {"w": np.array([2, 2], dtype)})
    y = run(made, x=np.array([2, 8], dtype))["y"]
    assert y.dtype == dtype
    np.testing.assert_array_equal(y, [2, 4])


def test_inputs_may_become_constants() -> None:
    """Axes that are an input have no operator; as a constant they have."""
    made = model(
        [node("Squeeze", ["x", "axes"], "y")],
        [value("x", [1, 3]), value("axes", [1], np.int64)],
        [value("y", [3])],
    )
    with pytest.raises(UnsupportedError, match="the axes must be constant"):
        Converter.from_onnx(made)
    converter = Converter.from_onnx(made, input_values={"axes": [0]})
    assert list(converter.entries[0].inputs) == ["x"]
    assert len(converter.convert())
    with pytest.raises(ModelError, match="axis is no input"):
        Converter.from_onnx(made, input_values={"axis": [0]})


def test_input_shapes_replace_those_of_the_model() -> None:
    converter = Converter.from_onnx(scaled(WEIGHTS), input_shapes={"x": [4, 3]})
    details = Interpreter(model_content=converter.convert()).get_input_details()
    assert details[0]["shape_signature"].tolist() == [4, 3]
    with pytest.raises(ModelError, match="z is no input, the inputs are x"):
        Converter.from_onnx(scaled(WEIGHTS), input_shapes={"z": [1]})


def test_sparse_constants() -> None:
    made = model([node("Mul", ["x", "w"], "y")], [value("x", [3])], [value("y", [3])])
    sparse = made.graph.sparse_initializer.add(dims=[3])
    sparse.values.CopyFrom(tensor("w", np.array([5], np.float32)))
    sparse.indices.CopyFrom(tensor("", np.array([1], np.int64)))
    np.testing.assert_array_equal(run(made, x=np.ones(3, np.float32))["y"], [0, 5, 0])
    sparse.indices.CopyFrom(tensor("", np.array([7], np.int64)))
    with pytest.raises(ModelError, match="indices must be"):
        Converter.from_onnx(made)


@pytest.mark.parametrize("listed", [False, True])
def test_bfloat16_needs_no_package(listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bits are the upper half of float32, scalars' too."""
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    nodes = [node("Cast", ["x"], "b", to=TensorProto.BFLOAT16), node("Mul", ["b", "w"], "m")]
    nodes += [node("Add", ["m", "o"], "s"), node("Cast", ["s"], "y", to=TensorProto.FLOAT)]
    made = model(nodes, [value("x", [2])], [value("y", [2])])
    for name, bits in (("w", np.array([0x4020, 0xC180], np.uint16)), ("o", np.array(0x3F80, np.uint16))):
        held = made.graph.initializer.add(name=name, dims=bits.shape, data_type=TensorProto.BFLOAT16)
        if listed:
            held.int32_data.extend(bits.reshape(-1).tolist())
        else:
            held.raw_data = bits.tobytes()
    np.testing.assert_array_equal(run(made, x=np.array([2, 3], np.float32))["y"], [6, -47])
