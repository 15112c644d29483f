"""Files that break rules of the format and can be read all the same: opened, and run where it makes sense."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from numlite.interpreter import Interpreter, OpResolverType
from numlite.lite.errors import ModelError
from numlite.lite.strict_check import model_findings
from numlite.schema import tflite

from ..model_builder import ModelBuilder
from ..small_models import Op


def shifted(content: bytes, count: int) -> bytes:
    """The same model, all of it so many bytes behind where its writer aligned it."""
    root = int.from_bytes(content[:4], "little") + count
    return root.to_bytes(4, "little") + content[4:8] + bytes(count) + content[8:]


def quantized_add() -> ModelBuilder:
    """y = x + c in int8, with a signature."""
    model = ModelBuilder()
    x, y = (model.tensor([4], np.int8, scale=0.5, zero_point=3, name=name) for name in "xy")
    c = model.constant(np.int8([1, 2, 3, 4]), scale=[0.5], zero_point=0, name="c")
    model.op(Op.ADD, [x, c], [y])
    model.build([x], [y], {"add": ({"x": x}, {"y": y})})
    return model


def content_of(model: ModelBuilder) -> bytes:
    return tflite.pack(model.model)


def run(content: bytes, x: np.ndarray | None = None, reference: bool = False) -> list[object]:
    kind = OpResolverType.BUILTIN_REF if reference else OpResolverType.AUTO
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=kind)
    interpreter.allocate_tensors()
    if x is not None:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return [interpreter.get_tensor(detail["index"]).tolist() for detail in interpreter.get_output_details()]


X = np.int8([5, 6, -7, 8])


@pytest.mark.parametrize("count", [1, 2, 4, 8, 12])
def test_vectors_need_not_be_aligned(count: int) -> None:
    content = content_of(quantized_add())
    moved = shifted(content, count)
    interpreter = Interpreter(model_content=moved)
    [detail] = interpreter.get_input_details()
    assert detail["quantization"] == (0.5, 3)
    assert detail["quantization_parameters"]["zero_points"].tolist() == [3]
    assert run(moved, X) == run(content, X)
    aligned = count % 8 == 0
    assert any("aligned" in finding for finding in model_findings(moved)) != aligned


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.int64, np.int16, np.float64])
def test_constants_need_not_be_aligned(dtype: type) -> None:
    model = ModelBuilder()
    c = model.constant(np.arange(5, dtype=dtype), name="c")
    y = model.tensor([5], dtype)
    model.op(Op.RESHAPE, [c], [y], tflite.ReshapeOptionsT(new_shape=[5]))
    content = shifted(model.build([], [y]), 1)
    interpreter = Interpreter(model_content=content)
    assert interpreter.tensor(c)().tolist() == [0, 1, 2, 3, 4]
    assert interpreter.core.tensor(c).address % np.dtype(dtype).itemsize == 0
    assert run(content) == [[0, 1, 2, 3, 4]]


def stale_tensor(model: tflite.ModelT) -> None:
    model.signature_defs[0].inputs[0].tensor_index = 77


def stale_subgraph(model: tflite.ModelT) -> None:
    model.signature_defs[0].subgraph_index = 7


STALE: dict[str, tuple[Callable[[tflite.ModelT], None], str, str]] = {
    "tensor": (stale_tensor, "tensor_index 77, subgraph 0 has 3", "Invalid tensor index 77"),
    "subgraph": (stale_subgraph, "subgraph_index 7, the model has 1 subgraphs", "Invalid subgraph index 7"),
}


@pytest.mark.parametrize(("change", "finding", "error"), STALE.values(), ids=STALE)
def test_a_stale_signature_matters_when_it_is_used(
    change: Callable[[tflite.ModelT], None], finding: str, error: str
) -> None:
    model = quantized_add()
    change(model.model)
    content = content_of(model)
    assert run(content, X) == run(content_of(quantized_add()), X)
    interpreter = Interpreter(model_content=content)
    assert interpreter.get_signature_list() == {"add": {"inputs": ["x"], "outputs": ["y"]}}
    with pytest.raises(ValueError, match=error):
        interpreter.get_signature_runner("add").get_input_details()
    with pytest.raises(ValueError, match=error):
        interpreter.get_signature_runner("add")(x=X)
    assert model_findings(content) == [f"signature 0: {finding}"]


@pytest.mark.parametrize("reference", [False, True])
def test_an_output_with_a_buffer_is_computed(reference: bool) -> None:
    model = ModelBuilder()
    x, y, z = (model.tensor([2], name=name) for name in "xyz")
    model.op(Op.NEG, [x], [y])
    model.op(Op.ABS, [y], [z])
    for t, data in ((y, [9, 9]), (z, [8, 8])):
        model.model.buffers.append(tflite.BufferT(data=np.float32(data).tobytes()))
        model.subgraph.tensors[t].buffer = len(model.model.buffers) - 1
    content = model.build([x], [y, z])
    assert run(content, np.float32([1, -2]), reference) == [[-1, 2], [1, 2]]
    assert model_findings(content) == [
        "subgraph 0 'main': node 0 (NEG): its output, tensor 1 'y' float32 2, is a constant",
        "subgraph 0 'main': node 1 (ABS): its output, tensor 2 'z' float32 2, is a constant",
    ]


def test_a_string_output_with_a_buffer_is_computed() -> None:
    model = ModelBuilder()
    x, y = (model.tensor([2], tflite.TensorType.STRING, name=name) for name in "xy")
    model.op(Op.RESHAPE, [x], [y], tflite.ReshapeOptionsT(new_shape=[2]))
    model.model.buffers.append(tflite.BufferT(data=bytes(4)))
    model.subgraph.tensors[y].buffer = 1
    assert run(model.build([x], [y]), np.array([b"a", b"bc"])) == [[b"a", b"bc"]]


def test_a_constant_that_is_an_input_keeps_its_value() -> None:
    model = ModelBuilder()
    x, c, y = model.tensor([2], name="x"), model.constant(np.float32([3, 4]), name="c"), model.tensor([2])
    model.op(Op.ADD, [x, c], [y])
    content = model.build([x, c], [y], {"add": ({"x": x, "c": c}, {"y": y})})
    assert run(content, np.float32([1, 1])) == [[4, 5]]
    interpreter = Interpreter(model_content=content)
    assert [detail["name"] for detail in interpreter.get_input_details()] == ["x", "c"]
    assert interpreter.get_tensor(c).tolist() == [3, 4]
    interpreter.allocate_tensors()
    with pytest.raises(ValueError, match="tensor 'c' float32 2 is a constant of the model"):
        interpreter.set_tensor(c, np.float32([1, 1]))
    with pytest.raises(RuntimeError, match="Attempting to resize a fixed-size tensor"):
        interpreter.resize_tensor_input(c, [3])
    assert model_findings(content) == [
        "subgraph 0 'main': tensor 1 'c' float32 2: this graph input is a constant"
    ]


def test_a_buffer_may_be_longer_than_its_tensor() -> None:
    model = quantized_add()
    model.model.buffers[1].data = bytes([1, 2, 3, 4, 99, 99])
    content = content_of(model)
    assert run(content, X) == run(content_of(quantized_add()), X)
    assert Interpreter(model_content=content).get_tensor(2).tolist() == [1, 2, 3, 4]
    assert model_findings(content) == ["subgraph 0, tensor 2: int8 [4] needs 4 bytes, buffer 1 has 6"]


def test_options_of_a_later_schema_are_passed_over() -> None:
    model = quantized_add()
    operator = model.subgraph.operators[0]
    operator.builtin_options, operator.builtin_options_type = tflite.AddOptionsT(), 200
    content = content_of(model)
    assert run(content, X) == run(content_of(quantized_add()), X)
    assert model_findings(content) == [
        "subgraph 0, operator 0, builtin_options: builtin_options_type must be 1 to 126, got 200"
    ]


def test_stale_intermediates_are_none() -> None:
    model = quantized_add()
    model.subgraph.operators[0].intermediates = [1, 99]
    content = content_of(model)
    assert run(content, X) == run(content_of(quantized_add()), X)
    assert Interpreter(model_content=content).core.subgraph().nodes[0].intermediates == (1, -1)
    finding = "subgraph 0, operator 0: intermediates name tensor 99, the subgraph has 3"
    assert model_findings(content) == [finding]


def test_all_findings_are_listed() -> None:
    model = quantized_add()
    stale_tensor(model.model)
    model.subgraph.operators[0].intermediates = [99]
    model.model.signature_defs.append(model.model.signature_defs[0])
    assert len(model_findings(content_of(model))) == 3
    model.subgraph.tensors[1].type = 40
    model.subgraph.operators[0].inputs = [0, 50]
    assert len(model_findings(content_of(model))) == 5
    with pytest.raises(ModelError, match="subgraph 0, tensor 1: type must be 0 to 22, got 40"):
        Interpreter(model_content=content_of(model))


def test_what_opening_refuses_is_found() -> None:
    assert model_findings(b"nothing") == ["model: 7 bytes are too few for a .tflite file"]
    model = quantized_add()
    model.subgraph.tensors[2].is_variable = True
    [finding] = model_findings(content_of(model))
    assert finding == "subgraph 0 'main': tensor 2 'c' int8 4: a variable must not have a buffer"
