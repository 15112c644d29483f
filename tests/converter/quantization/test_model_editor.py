"""A model that is read, changed and written again."""

import numpy as np
import pytest
from numlite import Interpreter
from numlite.converter.quantization.model_editor import ModelEditor
from numlite.lite.control_edges import (
    METADATA_NAME,
    parse_control_dependencies,
    serialize_control_dependencies,
)
from numlite.lite.model import Model
from numlite.lite.tensor import TensorType
from numlite.schema import tflite

from ...model_builder import ModelBuilder

Op = tflite.BuiltinOperator
W = np.arange(12, dtype=np.float32).reshape(3, 4)


def two_products(metadata: bytes = b"") -> bytes:
    """Two products by one weight, in two tensors of one content, and a tensor that nothing uses."""
    graph = ModelBuilder()
    x, y, z = (
        graph.tensor(shape, name=name) for name, shape in (("x", (2, 4)), ("y", (2, 3)), ("z", (2, 3)))
    )
    graph.tensor((7,), data=np.ones(7, np.float32), name="unused")
    w, v = graph.constant(W, name="w"), graph.constant(W, name="v")
    graph.op(Op.FULLY_CONNECTED, [x, w, -1], [y], tflite.FullyConnectedOptionsT())
    graph.op(Op.FULLY_CONNECTED, [x, v, -1], [z], tflite.FullyConnectedOptionsT())
    if metadata:
        graph.model.buffers.append(tflite.BufferT(data=metadata))
        entry = tflite.MetadataT(name=METADATA_NAME, buffer=len(graph.model.buffers) - 1)
        graph.model.metadata = [entry]
    return graph.build([x], [y, z], {"main": ({"x": x}, {"y": y, "z": z})})


def run(content: bytes, x: np.ndarray) -> list[np.ndarray]:
    runner = Interpreter(model_content=content).get_signature_runner("main")
    return list(runner(x=x).values())


def edited(content: bytes) -> ModelEditor:
    return ModelEditor(Model(content))


def test_what_is_not_changed_stays() -> None:
    before = two_products()
    after = edited(before).finish().content()
    assert len(after) < len(before)
    [subgraph] = tflite.unpack(tflite.read(after)).subgraphs
    assert [tensor.name for tensor in subgraph.tensors] == ["x", "y", "z", "w", "v"]
    assert subgraph.tensors[3].buffer == subgraph.tensors[4].buffer
    x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
    np.testing.assert_array_equal(run(before, x), run(after, x))
    assert edited(after).finish().content() == after


def test_one_of_two_tensors_that_share_a_buffer_changes_alone() -> None:
    editor = edited(edited(two_products()).finish().content())
    [subgraph] = editor.subgraphs
    editor.set_constant(subgraph.tensors[3], TensorType.FLOAT32, W + 1)
    np.testing.assert_array_equal(editor.constant(subgraph.tensors[4]), W)
    first, second = run(editor.finish().content(), np.ones((2, 4), np.float32))
    np.testing.assert_array_equal(first, np.ones((2, 4)) @ (W + 1).T)
    np.testing.assert_array_equal(second, np.ones((2, 4)) @ W.T)


def test_an_inserted_operator_moves_the_control_edges() -> None:
    editor = edited(two_products(serialize_control_dependencies([[(0, 1)]])))
    [subgraph] = editor.subgraphs
    product = subgraph.operators[1]
    kept = editor.add_constant(subgraph, "half", TensorType.FLOAT16, W.astype(np.float16))
    wide = editor.add_tensor(subgraph, "wide", TensorType.FLOAT32, subgraph.tensors[kept])
    editor.insert(subgraph, 0, "DEQUANTIZE", [kept], [wide], tflite.DequantizeOptionsT())
    product.inputs[1] = wide
    after = editor.finish().content()
    model = Model(after)
    assert parse_control_dependencies(model.metadata()[METADATA_NAME]) == [[(1, 2)]]
    assert model.metadata()["min_runtime_version"].rstrip(b"\0") == b"1.15.0"
    codes = tflite.unpack(model.root).operator_codes
    assert [(max(c.builtin_code, c.deprecated_builtin_code), c.version) for c in codes] == [
        (Op.FULLY_CONNECTED, 1),
        (Op.DEQUANTIZE, 3),
    ]
    np.testing.assert_array_equal(run(after, np.ones((2, 4), np.float32))[1], np.ones((2, 4)) @ W.T)


@pytest.mark.parametrize(("type", "low", "high"), [(TensorType.INT4, -8, 7), (TensorType.INT2, -2, 1)])
def test_small_integers_are_packed(type: TensorType, low: int, high: int) -> None:
    editor = edited(two_products())
    [subgraph] = editor.subgraphs
    values = np.random.default_rng(0).integers(low, high + 1, (3, 5)).astype(np.int8)
    index = editor.add_constant(subgraph, "small", type, values)
    np.testing.assert_array_equal(editor.constant(subgraph.tensors[index]), values)


def test_copies_of_an_editor_change_apart() -> None:
    edges = serialize_control_dependencies([[(0, 1)]])
    model = Model(two_products(edges))
    first, other = ModelEditor(model), ModelEditor(model)
    second = first.copied()
    for editor in (first, second):
        [subgraph] = editor.subgraphs
        editor.set_constant(subgraph.tensors[4], TensorType.FLOAT32, 2 * W)
        subgraph.operators.reverse()
    second.subgraphs[0].operators.reverse()
    x = np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4)
    plain = run(other.finish().content(), x)
    for editor, now in ((first, (1, 0)), (second, (0, 1))):
        made = editor.finish().content()
        y, z = run(made, x)
        np.testing.assert_array_equal(y, 2 * plain[0])
        np.testing.assert_array_equal(z, plain[1])
        assert parse_control_dependencies(Model(made).metadata()[METADATA_NAME]) == [[now]]
