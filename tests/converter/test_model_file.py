"""The file: buffers shared and aligned, inside of the flatbuffer or behind it, versions, signatures."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from numlite.converter import Converter, convert
from numlite.converter.conversion import convert_entries, entry_of, import_for_conversion
from numlite.converter.flatbuffer import model_file
from numlite.converter.graph_builder import GraphBuilder
from numlite.converter.lite_graph import LiteGraph, LiteModel, LiteOperator, LiteSignature, LiteTensor
from numlite.converter.operator_version import runtime_version
from numlite.converter.target_spec import Settings
from numlite.lite.available_memory import OVERREAD_BYTES
from numlite.lite.errors import ModelError, UnsupportedError
from numlite.lite.tensor import TensorType
from numlite.schema import tflite
from numlite.schema.operator_code import builtin_code
from numlite.schema.tflite import BuiltinOperator

from .graphs import checked, run_litert, run_numlite

WEIGHTS = np.arange(12, dtype=np.float32).reshape(3, 4)


def net(dtype: type = np.float32) -> GraphBuilder:
    """A sum, and for floats a product with weights."""
    g = GraphBuilder()
    x = g.placeholder("x", [2, 3], 1 if dtype is np.float32 else 9)
    x = g.node("AddV2", "sum", x, g.constant("a", np.arange(6, dtype=dtype).reshape(2, 3)))
    if dtype is np.float32:
        g.node("MatMul", "y", x, g.constant("w", WEIGHTS))
    return g


@pytest.mark.parametrize("run", [run_litert, run_numlite])
def test_buffers_behind_a_flatbuffer_that_would_be_too_large(run) -> None:
    conversion = convert(net().graph_def)
    inside, outside = conversion.model, model_file(conversion.lite, most_bytes=100).content()
    assert len(outside) != len(inside)
    buffers = tflite.read(outside).buffers
    assert all(len(buffer.data) == 0 for buffer in buffers)
    assert all(buffer.offset % 16 == 0 and buffer.size > 1 for buffer in buffers if buffer.size > 1)
    assert buffers[-1].offset + buffers[-1].size + OVERREAD_BYTES == len(outside)
    x = np.ones((2, 3), np.float32)
    [y] = run(outside, x)
    np.testing.assert_allclose(y, (x + np.arange(6).reshape(2, 3)) @ WEIGHTS, rtol=1e-6)


@pytest.mark.parametrize("most_bytes", [1 << 31, 100])
def test_a_view_has_all_of_the_file(most_bytes: int) -> None:
    file = model_file(convert(net().graph_def).lite, most_bytes)
    assert file.view().readonly
    assert bytes(file.view()) == file.content()


def test_buffers_are_aligned() -> None:
    model = checked(convert(net().graph_def).model)
    buffers = [buffer for buffer in tflite.read(model).buffers if len(buffer.data)]
    starts = [model.index(bytes(buffer.data)) for buffer in buffers if len(buffer.data) > 16]
    assert starts and all(start % 16 == 0 for start in starts)


@pytest.mark.parametrize(
    ("dtype", "versions", "release"),
    [(np.float32, {"ADD": 1, "FULLY_CONNECTED": 1}, "1.5.0"), (np.int64, {"ADD": 4}, "2.6.0")],
)
def test_versions(dtype: type, versions: dict[str, int], release: str) -> None:
    model = tflite.read(convert(net(dtype).graph_def).model)
    found = {BuiltinOperator(builtin_code(c)).name: c.version for c in model.operator_codes}
    assert found == versions
    [metadata] = model.metadata
    assert metadata.name == "min_runtime_version"
    assert bytes(model.buffers[metadata.buffer].data) == release.encode().ljust(16, b"\0")


def test_the_newest_operator_tells_the_runtime() -> None:
    codes = [(BuiltinOperator.ADD, 1), (BuiltinOperator.GELU, 1), (BuiltinOperator.RELU, 2)]
    assert runtime_version(codes) == "2.9.0"
    assert runtime_version([(BuiltinOperator.CUSTOM, 1)]) == ""


def test_signatures_of_several_parts() -> None:
    g = net()
    module = import_for_conversion(g.graph_def)
    first, second = entry_of(module, ["x"], ["sum"]), entry_of(module, ["sum"], ["y"], {"sum": [1, 3]})
    entries = [
        type(first)(module, {"a": "x"}, {"b": "sum"}, "first"),
        type(first)(module, {"c": "sum"}, {"d": "y"}, "second", second.shapes),
    ]
    model = tflite.read(checked(convert_entries(entries, Settings()).model))
    shown = [
        (s.signature_key, s.subgraph_index, [i.name for i in s.inputs], [o.name for o in s.outputs])
        for s in model.signature_defs
    ]
    assert shown == [("first", 0, ["a"], ["b"]), ("second", 1, ["c"], ["d"])]
    assert model.subgraphs[1].tensors[0].shape.tolist() == [1, 3]


def test_equal_subgraphs_are_one() -> None:
    module = import_for_conversion(net().graph_def)
    entry = entry_of(module, ["x"], ["y"])
    entries = [type(entry)(module, {name: "x"}, {"z": "y"}, name) for name in ("first", "second")]
    entries.append(type(entry)(module, {"x": "x"}, {"z": "sum"}, "third"))
    model = tflite.read(checked(convert_entries(entries, Settings()).model))
    assert len(model.subgraphs) == 2
    shown = [(s.subgraph_index, s.inputs[0].name) for s in model.signature_defs]
    assert shown == [(0, "first"), (0, "second"), (1, "x")]


def test_strings_and_small_integers() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed")
    graph = LiteGraph()
    text = LiteTensor("s", TensorType.STRING, (2,), np.array([b"ab", b""], object))
    nibbles = np.array([1, -2, 7], ml_dtypes.int4)
    graph.outputs = [text, LiteTensor("n", TensorType.INT4, (3,), nibbles)]
    model = tflite.read(model_file(LiteModel([_signature(graph)])).content())
    first, second = (bytes(model.buffers[t.buffer].data) for t in model.subgraphs[0].tensors)
    assert first == np.array([2, 16, 18, 18], "<i4").tobytes() + b"ab"
    assert second == bytes([0xE1, 0x07])


def _signature(graph: LiteGraph) -> LiteSignature:
    return LiteSignature("s", graph, [], ["s", "n"])


def test_names_that_occur_twice_get_numbers() -> None:
    graph = LiteGraph()
    x = LiteTensor("x", TensorType.FLOAT32, (1,))
    y = LiteTensor("x", TensorType.FLOAT32, (1,))
    graph.inputs, graph.outputs = [x], [y]
    graph.append(LiteOperator(BuiltinOperator.SIN, [x], [y], None, ("x",)))
    model = tflite.read(model_file(LiteModel([LiteSignature("s", graph, ["x"], ["y"])])).content())
    assert [tensor.name for tensor in model.subgraphs[0].tensors] == ["x", "x_1"]


def test_frozen_graph_files(tmp_path) -> None:
    path = tmp_path / "net.pb"
    path.write_bytes(net().graph_def.SerializeToString())
    model = checked(Converter.from_frozen_graph(path, ["x"], ["sum"], {"x": [1, 3]}).convert())
    subgraph = tflite.read(model).subgraphs[0]
    assert subgraph.tensors[subgraph.outputs[0]].shape.tolist() == [2, 3]
    with pytest.raises(ModelError, match="operands must have equal or broadcastable shapes"):
        Converter.from_frozen_graph(path, ["x"], ["y"], {"x": [5, 3]}).convert()


@pytest.mark.skipif(find_spec("tensorflow") is not None, reason="TensorFlow is installed")
def test_functions_of_tensorflow_need_it() -> None:
    with pytest.raises(UnsupportedError, match="TensorFlow is not installed"):
        Converter.from_concrete_functions([object()])
